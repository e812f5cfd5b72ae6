/** What a line of the shell answers: for a person and for a program the same. */
export type ShellOutput =
  | { readonly kind: "text"; readonly text: string; readonly json: unknown; readonly denied?: boolean }
  | {
      readonly kind: "rows"
      readonly head: readonly string[]
      /** Said instead of a table without rows. */
      readonly none: string
      readonly pages: AsyncIterator<readonly OutputRow[]>
    }

/** A row of a table, and the object that a pipe gets for it. */
export interface OutputRow {
  readonly cells: readonly string[]
  readonly json: unknown
}

/** A table from pages of anything. */
export function rows<Page>(
  head: readonly string[],
  none: string,
  pages: AsyncIterable<Page>,
  rowsOf: (page: Page) => readonly OutputRow[],
): ShellOutput {
  return { kind: "rows", head, none, pages: mapped(pages, rowsOf) }
}

async function* mapped<Page>(
  pages: AsyncIterable<Page>,
  rowsOf: (page: Page) => readonly OutputRow[],
): AsyncGenerator<readonly OutputRow[]> {
  for await (const page of pages) yield rowsOf(page)
}
