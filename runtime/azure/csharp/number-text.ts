/** A double as .NET writes it in the invariant culture: the shortest text that parses to it, with exponents from 1E+15 and 1E-05 on. */
export function doubleText(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return Object.is(value, -0) ? "-0" : String(value)
  if (Number.isNaN(value)) return "NaN"
  if (value === Number.POSITIVE_INFINITY) return "Infinity"
  if (value === Number.NEGATIVE_INFINITY) return "-Infinity"
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e")
  const power = Number(exponent)
  if (power < -4 || power >= 15) return `${mantissa}E${exponentText(power, 2)}`
  return plainDigits(mantissa, power)
}

/** `-` or `+`, and at least `width` digits. */
export function exponentText(power: number, width: number): string {
  return `${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(width, "0")}`
}

/** `1.25`, power 3 → `1250`; power -2 → `0.0125`. */
function plainDigits(mantissa: string, power: number): string {
  const negative = mantissa.startsWith("-")
  const digits = mantissa.replace(/[-.]/g, "")
  const point = power + 1
  const text =
    point <= 0
      ? `0.${"0".repeat(-point)}${digits}`
      : point >= digits.length
        ? digits.padEnd(point, "0")
        : `${digits.slice(0, point)}.${digits.slice(point)}`
  return negative ? `-${text}` : text
}
