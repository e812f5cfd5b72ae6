import { CliError } from "../command.ts"
import type { EngineApi } from "./engine-api.ts"
import type { ShellOutput } from "./shown.ts"
import type { StoreView } from "./store-view.ts"
import type { Words } from "./words.ts"

/** What a command uses of its shell. */
export interface ShellContext {
  readonly api: EngineApi
  /** The output is for programs. */
  readonly json: boolean
  /** The current store. @throws CliError if it is ambiguous. */
  store(): Promise<StoreView>
  /** Selects another store. @throws CliError */
  use(named: string): Promise<StoreView>
  /** Continues the last list after its last shown page. @throws CliError */
  rest(): ShellOutput
}

/** The kinds of arguments; completion offers words by kind. */
export type ArgumentKind =
  | "user"
  | "relation"
  | "object"
  | "type"
  | "user-type"
  | "store"
  | "command"
  | "other"

/** A command of the shell. */
export interface ShellCommand {
  readonly name: string
  /** The usage line of the help: `check USER RELATION OBJECT [{…}]`. */
  readonly usage: string
  readonly summary: string
  readonly places: readonly ArgumentKind[]
  run(session: ShellContext, words: Words): Promise<ShellOutput | "exit">
}

/** The error for a line that does not fit the usage. */
export function usageOf({ usage }: ShellCommand): CliError {
  return new CliError(`wrong arguments; usage: ${usage}`, "`help` lists all commands.")
}

/** The JSON in braces at the end of a line, in the format of the API. */
export const contextOf = ({ json }: Words): object => (json === undefined ? {} : { context: json })
