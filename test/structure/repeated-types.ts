/**
 * Exported types whose name several files declare, with the number of files. The list may only become shorter: a new type takes a name that no other type has.
 */
export const stillRepeated: Readonly<Record<string, number>> = {
  Bound: 3,
  Cel: 2,
  Claims: 2,
  Line: 2,
  Message: 2,
  OwnCredentials: 2,
  Part: 2,
  Piece: 2,
  Place: 2,
  Problem: 2,
  Row: 2,
  Scope: 3,
  Statement: 2,
  StepTable: 2,
  Surroundings: 2,
  Text: 2,
  TextPart: 2,
  Texts: 2,
  Verdict: 2,
}
