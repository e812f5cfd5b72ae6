/**
 * Exported types whose name several files declare, with the number of files. The list may only become shorter: a new type takes a name that no other type has.
 */
export const stillRepeated: Readonly<Record<string, number>> = {
  Bound: 2,
}
