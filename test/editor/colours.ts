import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import oniguruma from "vscode-oniguruma"
import textmate, { type IGrammar, type StateStack } from "vscode-textmate"

const folder = new URL("../../compiler/editor/grammars/", import.meta.url)
const files: Readonly<Record<string, string>> = {
  "source.sallyport": "gateway.tmLanguage.json",
  "source.fga": "fga.tmLanguage.json",
}

/** A grammar as an editor loads it. */
export async function grammarOf(scope: "source.sallyport" | "source.fga"): Promise<IGrammar> {
  const wasm = createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm")
  await oniguruma.loadWASM(readFileSync(wasm).buffer as ArrayBuffer)
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (name) => {
      const file = files[name]
      if (file === undefined) return null
      const path = fileURLToPath(new URL(file, folder))
      return textmate.parseRawGrammar(readFileSync(path, "utf8"), path)
    },
  })
  const grammar = await registry.loadGrammar(scope)
  if (grammar === null) throw new Error(`there is no grammar ${scope}`)
  return grammar
}

/** The scopes of each character of a text, outermost first, and how many rules are open at its end; 1: only the root. */
export interface Colours {
  at(offset: number): readonly string[]
  readonly open: number
}

export function coloursOf(grammar: IGrammar, text: string): Colours {
  const scopes: (readonly string[])[] = []
  let state: StateStack | null = null
  let at = 0
  for (const line of text.split("\n")) {
    const { tokens, ruleStack, stoppedEarly } = grammar.tokenizeLine(line, state)
    if (stoppedEarly) throw new Error("a line takes too long")
    for (const { startIndex, endIndex, scopes: own } of tokens)
      for (let column = startIndex; column < Math.min(endIndex, line.length); column++)
        scopes[at + column] = own
    state = ruleStack
    at += line.length + 1
  }
  return { at: (offset) => scopes[offset] ?? [], open: state?.depth ?? 1 }
}

/** Whether a character has a scope that begins with this one. */
export function has(scopes: readonly string[], prefix: string): boolean {
  return scopes.some((scope) => scope === prefix || scope.startsWith(`${prefix}.`))
}
