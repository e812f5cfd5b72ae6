import { RE2JS } from "re2js"

const lengthMax = 2048
const programSizeMax = 2000

/**
 * A pattern that runs in linear time: RE2's, so without look-around and back-references. Named groups may be written .NET's way. `flags` are those
 * of RE2JS. Gives a text that says why where it cannot be used.
 */
export function compilePattern(pattern: string, flags: number): RE2JS | string {
  if (pattern.length > lengthMax) return `it has more than ${lengthMax} characters`
  try {
    const made = RE2JS.compile(pattern.replace(/\(\?'([A-Za-z_]\w*)'/g, "(?<$1>"), flags)
    return made.programSize() > programSizeMax ? "it is too large" : made
  } catch {
    return "it does not run in linear time (no look-around, no back-references), or is no pattern"
  }
}

/** A replacement as .NET reads it: `$1`, `${name}`, `$&`, `$0` and `$$`. What `group` does not know stays as it is written. */
export function expandReplacement(replacement: string, group: (name: string) => string | undefined): string {
  return replacement.replace(
    /\$(?:(\d{1,2})|\{(\w+)\}|([$&]))/g,
    (written, digits?: string, name?: string, sign?: string) =>
      sign === "$" ? "$" : (group(sign === "&" ? "0" : (digits ?? name ?? "")) ?? written),
  )
}
