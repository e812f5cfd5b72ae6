import { didYouMean } from "../../core/nearest.ts"
import { type ExplainedRelation, explainRelation } from "../../model/explain.ts"
import { routesRequiring } from "../../model/required-by.ts"
import type { ModelExplainArgs } from "../args/model.ts"
import { CliError, type CommandAction, exitCode } from "../command.ts"
import { modelSource } from "../model-source.ts"
import { modelExplainJson, modelExplainText } from "../views/model-explain.ts"

export const modelExplain: CommandAction<ModelExplainArgs> = async (args, io) => {
  const { model, store, plan } = await modelSource(io, args)
  const explained = explainRelation(model, args.type, args.relation)
  if (explained === undefined) throw unknown(args, model.types)
  const names = [explained, ...explained.dependents].map(({ relation }) => relation)
  const routes =
    plan === undefined || store === undefined ? undefined : routesRequiring(plan, store, new Set(names))
  const whole: ExplainedRelation & { routes: typeof routes } = { ...explained, routes }
  io.out(args.format === "json" ? modelExplainJson(whole) : modelExplainText(whole))
  return exitCode.ok
}

function unknown(
  { type, relation }: ModelExplainArgs,
  types: ReadonlyMap<string, { readonly relations: ReadonlyMap<string, unknown> }>,
): CliError {
  const relations = types.get(type)?.relations
  if (relations === undefined)
    return new CliError(
      `the model has no type \`${type}\`${didYouMean(type, types.keys())}`,
      `It has ${[...types.keys()].join(", ") || "none"}.`,
    )
  const names = [...relations.keys()]
  const hint = didYouMean(relation, names)
  const help = names.length === 0 ? "It has none." : `It has ${names.join(", ")}.`
  return new CliError(`the type \`${type}\` has no relation \`${relation}\`${hint}`, help)
}
