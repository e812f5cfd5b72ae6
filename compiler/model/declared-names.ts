import { Report } from "../core/diagnostic.ts"
import type { SourceFile } from "../core/source.ts"
import { parseModel } from "./document.ts"
import { ModelMistakes } from "./mistakes.ts"

/** The names that a model with mistakes certainly declares, to check what other files say about it. */
export interface DeclaredNames {
  readonly file: SourceFile
  /** Relations by type. */
  readonly types: ReadonlyMap<string, readonly string[]>
  /** Whether the text has the word anywhere: a line that was not understood may then declare it. */
  hasWord(word: string): boolean
  /** The words of the text but for comments and declared names: types and relations that are used, also in lines that were not understood. */
  readonly used: ReadonlySet<string>
}

/**
 * Reads the names of a model that does not compile. Undefined if a declaration lost its name, and for the formats of several files and of
 * JSON.
 */
export function declaredNames(file: SourceFile): DeclaredNames | undefined {
  if (!file.path.endsWith(".fga")) return undefined
  const { types, namesMissing } = parseModel(new ModelMistakes(file, new Report()))
  if (namesMissing || types.length === 0) return undefined
  const words = new Set(file.text.match(/[\w-]+/g))
  const withoutNames = file.text.replace(/(?:^|\s)#.*$|^\s*(?:type|define)\s+[\w-]+/gm, "")
  return {
    file,
    types: new Map(types.map(({ name, relations }) => [name.text, relations.map((each) => each.name.text)])),
    hasWord: (word) => words.has(word),
    used: new Set(withoutNames.match(/[\w-]+/g)),
  }
}
