/** A start error that the user can fix: `message` contains the problem and its cause, `help` the remedy. */
export class DevError extends Error {
  readonly help: string

  constructor(message: string, help: string) {
    super(message)
    this.name = "DevError"
    this.help = help
  }
}
