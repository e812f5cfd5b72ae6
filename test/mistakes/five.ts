import { type Kind, lineAt, type Mistake, mistakesOf, type Numbers } from "./corpus.ts"
import { kinds } from "./kinds.ts"
import type { Example } from "./projects.ts"

/** Kinds that leave a file readable: what a file with an open string or comment says is unknown. */
const readable = (kind: Kind): boolean =>
  !/^(?:XML|OpenAPI|test|tuples)|merge conflict|brace|heredoc|model: (?:header|condition|schema)/.test(
    kind.name,
  )

/** A mistake in the name of a file: what the file says is unknown, so other mistakes cannot be found there. */
const renamesFile = ({ example, file, start }: Mistake): boolean => {
  const text = example.files.get(file) as string
  const [from, until] = lineAt(text, start)
  return [...text.slice(from, until).matchAll(/"(?:\w+\/)[^"]*"/g)].some(
    ({ index, 0: { length } }) => start >= from + index && start <= from + index + length,
  )
}

/** Five mistakes at lines that are not near each other. */
export function fiveIn(example: Example, next: Numbers): Mistake[] {
  const five: Mistake[] = []
  while (five.length < 5) {
    const [mistake] = mistakesOf(kinds[next(kinds.length)] as Kind, example, 1, next)
    if (mistake === undefined || !readable(mistake.kind) || renamesFile(mistake)) continue
    const isNear = (other: Mistake): boolean =>
      other.file === mistake.file &&
      Math.abs(lineOf(example, other.file, other.start) - lineOf(example, mistake.file, mistake.start)) < 4
    if (!five.some(isNear)) five.push(mistake)
  }
  return five
}

/** The line of an offset in a valid file, from 1. */
export function lineOf({ files }: Example, file: string, offset: number): number {
  return (files.get(file) as string).slice(0, offset).split("\n").length
}
