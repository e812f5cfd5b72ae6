const durationUnits: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
/** In bytes. KB and KiB are both 1024. */
const sizeUnits: Readonly<Record<string, number>> = {
  B: 1,
  KB: 2 ** 10,
  MB: 2 ** 20,
  GB: 2 ** 30,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
}

/** Milliseconds of `30s`, `5m`, `1500ms`; undefined for anything else. */
export function durationOf(text: string): number | undefined {
  const found = /^(\d{1,15})(ms|s|m|h|d)$/.exec(text)
  return found === null ? undefined : Number(found[1]) * (durationUnits[found[2] as string] as number)
}

/** Bytes of `10MB`, `16KiB`, `512B`; undefined for anything else. */
export function sizeOf(text: string): number | undefined {
  const found = /^(\d{1,12})(B|KB|MB|GB|KiB|MiB|GiB)$/.exec(text)
  return found === null ? undefined : Number(found[1]) * (sizeUnits[found[2] as string] as number)
}

/** A whole number of up to 15 digits; undefined for anything else. */
export function countOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** The number of percent of `5%`, `0.5%`; undefined for anything else. */
export function percentageOf(text: string): number | undefined {
  const found = /^(\d{1,3}(?:\.\d{1,12})?)%$/.exec(text)
  return found === null ? undefined : Number(found[1])
}

/** A duration as it is written: `30s`, `5m`, `1500ms`. */
export function durationText(milliseconds: number): string {
  return inUnits(milliseconds, ["d", "h", "m", "s"], durationUnits) ?? `${milliseconds}ms`
}

/** A size as it is written: `10MB`, `1500B`. */
export function sizeText(bytes: number): string {
  return inUnits(bytes, ["GB", "MB", "KB"], sizeUnits) ?? `${bytes}B`
}

/** In the largest unit of which it is a multiple. */
function inUnits(
  value: number,
  names: readonly string[],
  units: Readonly<Record<string, number>>,
): string | undefined {
  const unit = names.find((each) => value !== 0 && value % (units[each] as number) === 0)
  return unit === undefined ? undefined : `${value / (units[unit] as number)}${unit}`
}
