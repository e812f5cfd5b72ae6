/** A template in the words of liquidjs, and where each character of it was before. */
export interface TranslatedSource {
  readonly text: string
  offset(of: number): number
}

/** Texts have no escapes in Liquid: every `\` is a character of them. `raw` holds no texts. */
export const markup = /\{%-?\s*raw\s*-?%\}[\s\S]*?\{%-?\s*endraw\s*-?%\}|\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/g
const inMarkup = /"[^"]*"|'[^']*'|\bforloop\.(?:First|Last|Index0?|RIndex0?|Rindex0?|Length)\b/g

/**
 * What is written differently for .NET's engine and for liquidjs: a `\` in a text of a tag is a character, and members of `forloop` may begin
 * with a capital letter.
 */
export function translateDotNetSource(source: string): TranslatedSource {
  const added: number[] = []
  const text = source.replace(markup, (part, at: number) =>
    /^\{%-?\s*raw/.test(part) ? part : translated(part, at + added.length, added),
  )
  // Each added `\` stands behind the one that was there.
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
