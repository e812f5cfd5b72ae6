import { checkExpression } from "./check-expression.ts"
import { checkFunction, checkLambda, groupAsLambda } from "./check-lambda.ts"
import { binary } from "./check-operator.ts"
import { checkBlock } from "./check-statement.ts"
import type { CheckRules } from "./scope.ts"

/** All checks together. */
export const checkRules: CheckRules = {
  expression: checkExpression,
  lambda: checkLambda,
  delegate: checkFunction,
  group: groupAsLambda,
  block: checkBlock,
  binary,
}
