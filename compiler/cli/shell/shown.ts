/** What a line of the shell answers: for a person and for a program the same. */
export type Shown =
  | { readonly kind: "text"; readonly text: string; readonly json: unknown; readonly denied?: boolean }
  | {
      readonly kind: "rows"
      readonly head: readonly string[]
      /** Said instead of a table without rows. */
      readonly none: string
      readonly pages: AsyncIterator<readonly Row[]>
    }

/** A row of a table, and the object that a pipe gets for it. */
export interface Row {
  readonly cells: readonly string[]
  readonly json: unknown
}

/** A table from pages of anything. */
export function rows<Page>(
  head: readonly string[],
  none: string,
  pages: AsyncIterable<Page>,
  rowsOf: (page: Page) => readonly Row[],
): Shown {
  return { kind: "rows", head, none, pages: mapped(pages, rowsOf) }
}

async function* mapped<Page>(
  pages: AsyncIterable<Page>,
  rowsOf: (page: Page) => readonly Row[],
): AsyncGenerator<readonly Row[]> {
  for await (const page of pages) yield rowsOf(page)
}
