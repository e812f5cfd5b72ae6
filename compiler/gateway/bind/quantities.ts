import {
  countOf,
  durationOf,
  durationText,
  percentageOf,
  sizeOf,
  sizeText,
} from "../../../runtime/plan/quantities.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Word } from "../ast.ts"
import type { Slot } from "../schema/row.ts"

/** Milliseconds of `30s`. */
export function readDuration(word: Word, slot: Slot, report: Report): number | undefined {
  const value = durationOf(word.text)
  const help = `Write a whole number with \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`, e.g. ${/^\d+$/.test(word.text) && word.text.length < 9 ? `\`${word.text}s\`` : "`30s`"}.`
  if (value === undefined) {
    const why = /^\d+$/.test(word.text) ? "has no unit" : "is not a duration"
    report.add("SP2020", word.span, `\`${shown(word.text)}\` ${why}`, { help })
    return undefined
  }
  if (slot.wholeSeconds === true && value % 1000 !== 0) {
    report.add("SP2020", word.span, `\`${shown(word.text)}\` is not a whole number of seconds`, {
      help: "Use whole seconds, e.g. `1s`.",
    })
    return undefined
  }
  if (inRange(value, slot)) return value
  const range = `between \`${durationText(slot.min ?? 0)}\` and \`${durationText(slot.max ?? 86_400_000)}\``
  report.add("SP2020", word.span, `\`${shown(word.text)}\` is out of range`, {
    help: `Use a duration ${range}.`,
  })
  return undefined
}

/** Milliseconds, or null for `none`. */
export function readDurationOrNone(word: Word, slot: Slot, report: Report): number | null | undefined {
  return word.text === "none" ? null : readDuration(word, slot, report)
}

/** Bytes of `10MB`. */
export function readSize(word: Word, slot: Slot, report: Report): number | undefined {
  const value = sizeOf(word.text)
  if (value === undefined) {
    const why = /^\d+$/.test(word.text) ? "has no unit" : "is not a size"
    const help = "Write a whole number with `B`, `KB`, `MB` or `GB`, e.g. `10MB`."
    report.add("SP2021", word.span, `\`${shown(word.text)}\` ${why}`, { help })
    return undefined
  }
  if (inRange(value, slot)) return value
  const help = `Use a size between \`${sizeText(slot.min ?? 0)}\` and \`${sizeText(slot.max ?? 0)}\`.`
  report.add("SP2021", word.span, `\`${shown(word.text)}\` is out of range`, { help })
  return undefined
}

/** A whole number. */
export function readCount(word: Word, slot: Slot, report: Report): number | undefined {
  const range = `between ${slot.min ?? 0} and ${slot.max ?? Number.MAX_SAFE_INTEGER}`
  const value = countOf(word.text)
  if (value === undefined) {
    report.add("SP2022", word.span, `\`${shown(word.text)}\` is not a whole number`, {
      help: `Write a whole number ${range}.`,
    })
    return undefined
  }
  if (inRange(value, slot)) return value
  report.add("SP2022", word.span, `\`${shown(word.text)}\` is out of range`, {
    help: `Use a number ${range}.`,
  })
  return undefined
}

/** A status code within the bounds of its slot. */
export function readStatus(word: Word, slot: Slot, report: Report): number | undefined {
  if (/^\d{3}$/.test(word.text) && inRange(Number(word.text), slot)) return Number(word.text)
  const help = `Use a status between ${slot.min ?? 200} and ${slot.max ?? 599}.`
  report.add("SP2029", word.span, `\`${shown(word.text)}\` is not a status that this statement can send`, {
    help,
  })
  return undefined
}

/** A status code, or a class of them: `4xx`. */
export function readStatusOrClass(word: Word, _slot: Slot, report: Report): string | undefined {
  if (/^[1-5](?:xx|[0-9]{2})$/.test(word.text)) return word.text
  report.add("SP2029", word.span, `\`${shown(word.text)}\` is neither a status nor a status class`, {
    help: "Write a status between 100 and 599, or a class: `1xx` to `5xx`.",
  })
  return undefined
}

/** A date as written, `2026-06-30`. */
export function readDate(word: Word, _slot: Slot, report: Report): string | undefined {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(word.text)
  const help = "Write a day as `YYYY-MM-DD`, e.g. `2026-06-30`."
  if (found === null) {
    report.add("SP2023", word.span, `\`${shown(word.text)}\` is not a date`, { help })
    return undefined
  }
  const day = new Date(`${word.text}T00:00:00Z`)
  if (!Number.isNaN(day.getTime()) && day.toISOString().startsWith(word.text)) return word.text
  report.add("SP2023", word.span, `\`${shown(word.text)}\` does not exist in the calendar`, { help })
  return undefined
}

/** A decimal number as written, `0.002`. It stays text so that multiplication does not round it. */
export function readDecimal(word: Word, slot: Slot, report: Report): string | undefined {
  if (/^(0|[1-9]\d{0,11})(\.\d{1,12})?$/.test(word.text)) {
    if (inRange(Number(word.text), slot)) return word.text
    report.add("SP2022", word.span, `${word.text} is not between ${slot.min ?? 0} and ${slot.max}`, {
      help: `Write a number from ${slot.min ?? 0} to ${slot.max}, such as \`0.5\`.`,
    })
    return undefined
  }
  report.add("SP2022", word.span, `\`${shown(word.text)}\` is not an amount`, {
    help: "Write a number such as `0.002`: 12 digits before the point and 12 after it at most.",
  })
  return undefined
}

/** A share as a number of percent: `5%`, `0.5%`. */
export function readPercentage(word: Word, slot: Slot, report: Report): number | undefined {
  const value = percentageOf(word.text)
  const isWhole = slot.wholePercent === true
  if (value !== undefined && inRange(value, { max: 100, ...slot }) && (!isWhole || Number.isInteger(value)))
    return value
  report.add("SP2022", word.span, `\`${shown(word.text)}\` is not a share in percent`, {
    help: `Write a ${isWhole ? "whole number of percent" : "share"} from \`${slot.min ?? 0}%\` to \`100%\`, such as \`5%\`.`,
  })
  return undefined
}

/** An ISO 4217 currency code. */
export function readCurrency(word: Word, _slot: Slot, report: Report): string | undefined {
  if (/^[A-Z]{3}$/.test(word.text)) return word.text
  report.add("SP2030", word.span, `\`${shown(word.text)}\` is not a currency`, {
    help: "Write its three capital letters (ISO 4217), e.g. `EUR`.",
  })
  return undefined
}

function inRange(value: number, { min, max }: Pick<Slot, "min" | "max">): boolean {
  return value >= (min ?? 0) && value <= (max ?? Number.MAX_SAFE_INTEGER)
}
