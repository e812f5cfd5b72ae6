/** The object of a text in a form, which `what` names with its verb (`the context is`); empty: one without members. A text: why it is not an object. */
export function jsonObject(text: string, what: string): Readonly<Record<string, unknown>> | string {
  if (text.trim() === "") return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : `${what} not a JSON object`
  } catch (error) {
    return `${what} not JSON: ${(error as Error).message}`
  }
}
