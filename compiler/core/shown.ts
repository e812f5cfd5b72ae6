const charactersMax = 60

/** A user's text as findings repeat it: on one line, and cut where it is longer than a line. */
export function shown(text: string): string {
  const start = text.slice(0, 2 * charactersMax)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the line.
  const characters = [...start.replace(/[\u0000-\u001f\u007f-\u009f]/g, "\u{fffd}")]
  const fits = characters.length <= charactersMax && start.length === text.length
  return fits ? characters.join("") : `${characters.slice(0, charactersMax).join("")}…`
}
