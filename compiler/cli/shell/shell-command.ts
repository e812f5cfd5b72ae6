import { CliError } from "../command.ts"
import type { EngineApi } from "./engine-api.ts"
import type { ShellOutput } from "./shown.ts"
import type { StoreView } from "./store-view.ts"
import type { Words } from "./words.ts"

/** What a command needs of the shell it runs in. */
export interface ShellContext {
  readonly api: EngineApi
  /** Programs read the answers, not people. */
  readonly json: boolean
  /** The store that is asked. @throws CliError when it is not known which. */
  store(): Promise<StoreView>
  /** Asks another one from now on. @throws CliError */
  use(named: string): Promise<StoreView>
  /** What was listed last, where it was left off. @throws CliError */
  rest(): ShellOutput
}

/** What may stand in a place of a command; completion knows what to offer for each. */
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
  /** As the help shows it: `check USER RELATION OBJECT [{…}]`. */
  readonly usage: string
  readonly summary: string
  readonly places: readonly ArgumentKind[]
  run(session: ShellContext, words: Words): Promise<ShellOutput | "exit">
}

/** A line that is not of the command's form. */
export function usageOf({ usage }: ShellCommand): CliError {
  return new CliError(`it is: ${usage}`, "`help` lists all commands.")
}

/** What stands in braces at the end of a line, as the API takes it. */
export const contextOf = ({ json }: Words): object => (json === undefined ? {} : { context: json })
