import { numberOf } from "../../core/odd-characters.ts"
import { unseen } from "../../core/shown.ts"

/**
 * Columns as wide as their widest cell, separated by two spaces, the last one unpadded. Width is counted in code points. Invisible
 * characters are shown as their numbers: a cell can contain names chosen by callers, with control sequences for the terminal.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(shown))
  const widths = head.map((_, column) => Math.max(...all.map((row) => width(row[column] ?? ""))))
  return all
    .map(
      (row) =>
        `${head
          .map((_, column) => pad(row[column] ?? "", widths[column] ?? 0, column === head.length - 1))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("")
}

function shown(cell: string): string {
  return cell.replace(unseen("g"), (character) => `<${numberOf(character.codePointAt(0) ?? 0)}>`)
}

function width(cell: string): number {
  return [...cell].length
}

function pad(cell: string, to: number, last: boolean): string {
  return last ? cell : cell + " ".repeat(to - width(cell))
}
