/**
 * What the YAML parser found, in the words of our messages: without its own place, and without its end of the stack, which is all it
 * says of values nested by the thousand.
 */
export function yamlProblem(message: string): string {
  if (/call stack/i.test(message)) return "values are nested too deeply here"
  if (/multiple documents/i.test(message)) return "another document begins here: a file has one"
  const said = message.replace(/ at line \d+.*$/s, "").replace(/\.$/, "")
  return said.charAt(0).toLowerCase() + said.slice(1)
}
