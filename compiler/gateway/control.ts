import { unseen } from "../core/characters.ts"
import { numberOf, oddCharacterAt } from "../core/odd-characters.ts"
import type { Mistakes } from "./mistakes.ts"
import type { TokenProblem } from "./scan.ts"

const unwanted = unseen("g")

/** Reports characters nobody can see, wherever they stand: also in texts, comments and expressions. */
export function checkCharacters(text: string, mistakes: Mistakes): void {
  unwanted.lastIndex = 0
  for (let found = unwanted.exec(text); found !== null; found = unwanted.exec(text))
    mistakes.add(problemOf(found[0], found.index))
}

function problemOf(sign: string, start: number): TokenProblem {
  const end = start + 1
  if (sign === "\r") return { code: "SP1032", start, end, detail: "no newline follows this carriage return" }
  const code = sign.charCodeAt(0)
  const odd = oddCharacterAt(sign, 0)
  if (odd === undefined)
    return { code: "SP1030", start, end, detail: `the control character ${numberOf(code)} stands here` }
  const help = `Remove it. In a text it can be written as \`\\u{${code.toString(16).toUpperCase()}}\`.`
  return { code: "SP1031", start, end, detail: `the invisible character ${odd.name} stands here`, help }
}
