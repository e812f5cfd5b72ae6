import type { ModelMistakes } from "./mistakes.ts"

/** Maximum characters of a model's text. OpenFGA stores 256 KiB of model; the rest is room for comments. */
const textMax = 1024 * 1024

/** Reports an empty or too large text. Any later finding about it would be meaningless. */
export function checkReadable(mistakes: ModelMistakes): boolean {
  const { file } = mistakes
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the search is for control characters
  const strange = file.text.search(/[\u0000-\u0008\u000b\u000e-\u001f\u007f\ufffd]/)
  if (file.text.length > textMax) {
    const detail = `the file has ${file.text.length} characters, more than the ${textMax} allowed`
    mistakes.add("SP4004", file.span(0, 0), detail)
  } else if (strange !== -1) {
    const code = file.text.charCodeAt(strange).toString(16).toUpperCase().padStart(4, "0")
    mistakes.add(
      "SP4003",
      file.span(strange, strange + 1),
      `the character U+${code} is not allowed in a string`,
    )
  } else if (file.text.split(/[\r\n]/).some((line) => !/^\s*(?:#|$)/.test(line))) return true
  else reportEmpty(mistakes)
  return false
}

/** An empty file, with what belongs into one of this kind. */
function reportEmpty(mistakes: ModelMistakes): void {
  const { file } = mistakes
  const help = file.path.endsWith(".mod")
    ? 'Write `schema: "1.2"` and `contents:` with one `- FILE.fga` per line.'
    : file.path.endsWith(".json")
      ? 'Write OpenFGA\'s JSON: `{"schema_version": "1.1", "type_definitions": […]}`.'
      : undefined
  const extra = help === undefined ? {} : { help }
  mistakes.add("SP4002", file.span(0, 0), "the file contains only spaces and comments", extra)
}
