const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE:
    "the port is in use: by another process, or by another listener of this one (gateway, engine or control). Stop that process, listen on another port, or first apply a plan in which the other listener leaves this port",
  EACCES: "not allowed; ports below 1024 need extra permissions",
  EADDRNOTAVAIL: "this machine has no such address",
}

/** Why an address of a plan could not be opened, and what to do, for operators. */
export function listenReason(error: NodeJS.ErrnoException): string {
  return listenReasons[error.code ?? ""] ?? error.message
}

/** Why a plan cannot be used here. `problems` are sentences for operators, with places like `gateway.conf:41` when known. */
export class LoadError extends Error {
  override readonly name = "LoadError"
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join("\n"))
    this.problems = problems
  }
}
