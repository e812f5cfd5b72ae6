/** The result of a line, in a form for both people and programs. */
export type ShellOutput =
  | { readonly kind: "text"; readonly text: string; readonly json: unknown; readonly denied?: boolean }
  | {
      readonly kind: "rows"
      readonly head: readonly string[]
      /** The text for a table without rows. */
      readonly none: string
      readonly pages: AsyncIterator<readonly OutputRow[]>
    }

/** A row of a table, and the JSON object for a pipe. */
export interface OutputRow {
  readonly cells: readonly string[]
  readonly json: unknown
}

/** A table from pages of items. */
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
