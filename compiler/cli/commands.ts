import { applyLine } from "./args/apply.ts"
import { checkLine } from "./args/check.ts"
import { devLine } from "./args/dev.ts"
import { diffLine } from "./args/diff.ts"
import { explainLine } from "./args/explain.ts"
import { fmtLine } from "./args/fmt.ts"
import { hashPasswordLine } from "./args/hash-password.ts"
import { historyLine } from "./args/history.ts"
import { migrateLine } from "./args/migrate.ts"
import { modelExplainLine, modelPrintLine } from "./args/model.ts"
import { exportOpenapiLine, importOpenapiLine } from "./args/openapi.ts"
import { planLine } from "./args/plan.ts"
import { policyConvertLine } from "./args/policy.ts"
import { rollbackLine } from "./args/rollback.ts"
import { schemaLine } from "./args/schema.ts"
import { serveLine } from "./args/serve.ts"
import { shellLine } from "./args/shell.ts"
import { statusLine } from "./args/status.ts"
import {
  subscriptionActivateLine,
  subscriptionApproveLine,
  subscriptionCancelLine,
  subscriptionCreateLine,
  subscriptionDeleteLine,
  subscriptionListLine,
  subscriptionRejectLine,
  subscriptionRotateLine,
  subscriptionShowLine,
  subscriptionSuspendLine,
} from "./args/subscription.ts"
import { testLine } from "./args/test.ts"
import { tokenLine } from "./args/token.ts"
import { tupleDeleteLine, tupleReadLine, tupleWriteLine } from "./args/tuple.ts"
import { usageLine } from "./args/usage.ts"
import { validateLine } from "./args/validate.ts"
import { type Command, command } from "./command.ts"

/** All commands, in the order of the help. `args/NAME.ts` reads the words, `commands/NAME.ts` works, `views/NAME.ts` shows. */
export const commands: readonly Command[] = [
  command(devLine, async () => (await import("./commands/dev.ts")).dev),
  command(validateLine, async () => (await import("./commands/validate.ts")).validate),
  command(fmtLine, async () => (await import("./commands/fmt.ts")).fmt),
  command(testLine, async () => (await import("./commands/test.ts")).test),
  command(modelExplainLine, async () => (await import("./commands/model-explain.ts")).modelExplain),
  command(modelPrintLine, async () => (await import("./commands/model-print.ts")).modelPrint),
  command(importOpenapiLine, async () => (await import("./commands/import-openapi.ts")).importOpenapi),
  command(exportOpenapiLine, async () => (await import("./commands/export-openapi.ts")).exportOpenapi),
  command(policyConvertLine, async () => (await import("./commands/policy-convert.ts")).policyConvert),
  command(planLine, async () => (await import("./commands/plan.ts")).plan),
  command(applyLine, async () => (await import("./commands/apply.ts")).apply),
  command(diffLine, async () => (await import("./commands/diff.ts")).diff),
  command(historyLine, async () => (await import("./commands/history.ts")).history),
  command(rollbackLine, async () => (await import("./commands/rollback.ts")).rollback),
  command(statusLine, async () => (await import("./commands/status.ts")).status),
  command(
    subscriptionCreateLine,
    async () => (await import("./commands/subscription.ts")).subscriptionCreate,
  ),
  command(subscriptionListLine, async () => (await import("./commands/subscription.ts")).subscriptionList),
  command(subscriptionShowLine, async () => (await import("./commands/subscription.ts")).subscriptionShow),
  command(subscriptionApproveLine, async () => (await import("./commands/subscription.ts")).subscriptionAct),
  command(subscriptionRejectLine, async () => (await import("./commands/subscription.ts")).subscriptionAct),
  command(subscriptionSuspendLine, async () => (await import("./commands/subscription.ts")).subscriptionAct),
  command(subscriptionActivateLine, async () => (await import("./commands/subscription.ts")).subscriptionAct),
  command(subscriptionCancelLine, async () => (await import("./commands/subscription.ts")).subscriptionAct),
  command(
    subscriptionRotateLine,
    async () => (await import("./commands/subscription.ts")).subscriptionRotate,
  ),
  command(
    subscriptionDeleteLine,
    async () => (await import("./commands/subscription.ts")).subscriptionDelete,
  ),
  command(usageLine, async () => (await import("./commands/usage.ts")).usage),
  command(migrateLine, async () => (await import("./commands/migrate.ts")).migrate),
  command(serveLine, async () => (await import("./commands/serve.ts")).serve),
  command(checkLine, async () => (await import("./commands/check.ts")).check),
  command(shellLine, async () => (await import("./commands/shell.ts")).shell),
  command(tupleWriteLine, async () => (await import("./commands/tuple-write.ts")).tupleWrite),
  command(tupleDeleteLine, async () => (await import("./commands/tuple-delete.ts")).tupleDelete),
  command(tupleReadLine, async () => (await import("./commands/tuple-read.ts")).tupleRead),
  command(hashPasswordLine, async () => (await import("./commands/hash-password.ts")).hashPassword),
  command(tokenLine, async () => (await import("./commands/token.ts")).token),
  command(explainLine, async () => (await import("./commands/explain.ts")).explain),
  command(schemaLine, async () => (await import("./commands/schema.ts")).schema),
]
