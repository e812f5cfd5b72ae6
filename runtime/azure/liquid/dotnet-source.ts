/** A template in the syntax of liquidjs, with the original offset of each character. */
export interface TranslatedSource {
  readonly text: string
  offset(of: number): number
}

/** Liquid texts have no escapes: every `\` is an ordinary character. `raw` contains no texts. */
export const markup = /\{%-?\s*raw\s*-?%\}[\s\S]*?\{%-?\s*endraw\s*-?%\}|\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g
const inMarkup = /"[^"]*"|'[^']*'|\bforloop\.(?:First|Last|Index0?|RIndex0?|Rindex0?|Length)\b/g

/**
 * Converts the differences between .NET's engine and liquidjs: in a text of a tag, `\` is an ordinary character, and members of `forloop` can start with
 * a capital letter.
 */
export function translateDotNetSource(source: string): TranslatedSource {
  const added: number[] = []
  const text = source.replace(markup, (part, at: number) =>
    /^\{%-?\s*raw/.test(part) ? part : translated(part, at + added.length, added),
  )
  // Each added `\` follows the original one.
  return { text, offset: (of) => of - added.filter((each) => each < of).length }
}

function translated(part: string, at: number, added: number[]): string {
  let grown = 0
  return part.replace(inMarkup, (found, index: number) => {
    if (found.startsWith("forloop")) return found.toLowerCase()
    return found.replace(/\\/g, (_, inside: number) => {
      added.push(at + index + inside + grown)
      grown += 1
      return "\\\\"
    })
  })
}
