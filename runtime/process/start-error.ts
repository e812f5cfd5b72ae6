/** Why a process cannot start, for whoever started it: one sentence what and why, one what to do. */
export class StartError extends Error {
  override readonly name = "StartError"
  readonly help: string | undefined

  constructor(message: string, help?: string) {
    super(message)
    this.help = help
  }
}
