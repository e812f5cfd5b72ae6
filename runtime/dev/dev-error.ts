/** A start of the development parts that a person can mend: `message` says what and why, `help` what to do. */
export class DevError extends Error {
  readonly help: string

  constructor(message: string, help: string) {
    super(message)
    this.name = "DevError"
    this.help = help
  }
}
