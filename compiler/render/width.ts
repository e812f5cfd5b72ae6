import { unseen } from "../core/shown.ts"

/** A displayed character of a source line: its offset in the line, the printed text, and its number of columns. */
export interface Cell {
  readonly offset: number
  readonly shown: string
  readonly columns: number
}

const tabColumns = 4
const hidden = unseen("g")

/** Makes every character visible that would move the cursor or hide something, so that the output cannot control the terminal. */
export function visible(text: string): string {
  return text.replaceAll("\n", "␊").replaceAll("\t", " ").replace(hidden, picture)
}

/** The cells of a line. A tab becomes spaces up to the next multiple of four columns. */
export function cellsOf(line: string): Cell[] {
  const cells: Cell[] = []
  let column = 0
  let offset = 0
  for (const character of line) {
    const columns = character === "\t" ? tabColumns - (column % tabColumns) : columnsOf(character)
    cells.push({ offset, shown: character === "\t" ? " ".repeat(columns) : visible(character), columns })
    column += columns
    offset += character.length
  }
  return cells
}

function picture(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? "␡" : "\ufffd"
}

// Ranges of UAX #11 that terminals show two columns wide: CJK, Hangul, full-width forms, emoji.
const wide: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
]

function columnsOf(character: string): number {
  const code = character.codePointAt(0) as number
  if (code < 0x300) return 1
  if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(character)) return 0
  return wide.some(([from, to]) => code >= from && code <= to) ? 2 : 1
}
