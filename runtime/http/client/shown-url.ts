/** Whether a text begins like a URL with a user or a password, whatever its scheme. */
export function hasCredentials(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\/[^/?#\\]*@/i.test(text)
}

/** A text that should be a URL, for a message: without what may be a user and a password. */
export function shownUrl(text: string): string {
  return text.replace(/^(\w[\w+.-]*:\/\/)?.*@/s, "$1")
}
