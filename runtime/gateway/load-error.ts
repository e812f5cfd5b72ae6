/** Why a plan can't be served here. `problems` are sentences for operators, with places like `gateway.conf:41` where they are known. */
export class LoadError extends Error {
  override readonly name = "LoadError"
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join("\n"))
    this.problems = problems
  }
}
