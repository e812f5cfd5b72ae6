import type { Command } from "./command.ts"

/** All commands, in the order of the help. `args/NAME.ts` reads the words, `commands/NAME.ts` works, `views/NAME.ts` shows. */
export const commands: readonly Command[] = []
