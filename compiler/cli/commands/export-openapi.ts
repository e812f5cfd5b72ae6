import type { StepId } from "../../../runtime/plan/steps.ts"
import { exportParts, versionsOfApi } from "../../gateway/export-api.ts"
import { exportDocument, printDocument } from "../../openapi/export-document.ts"
import { summaryOf } from "../../render/diagnostics.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { configOption, type ProjectArgs, readFormat, readProject, textOf } from "../options.ts"
import { compileOnce, showFindings } from "../project.ts"

interface ExportOpenapiArgs {
  readonly project: ProjectArgs
  readonly api: string
  readonly version: string | undefined
  readonly format: "json" | "yaml"
}

const exportOpenapiLine: CommandLine<ExportOpenapiArgs> = {
  operands: [["<api>", "name of the API in gateway.conf"]],
  options: [
    ["--api-version <version>", "version of the API; required when there are several"],
    configOption,
    ["--format <format>", "json or yaml (default: json)"],
  ],
  examples: [
    [
      "sallyport export openapi orders --api-version v2 > orders.json",
      "write the document, with security, limits and the gateway's own responses",
    ],
  ],
  parse: ([api = ""], options) => ({
    project: readProject(options),
    api,
    version: textOf(options, "apiVersion"),
    format: readFormat(options, ["json", "yaml"]),
  }),
}

/** An API with several versions has one document for each, so the version must be named. */
export const exportOpenapi = command(exportOpenapiLine, async ({ project, api, version, format }, io) => {
  const { plan, diagnostics, described, documentation } = await compileOnce(io, project)
  showFindings(io, diagnostics)
  // A document of a project that does not compile would describe routes that never run.
  if (plan === undefined) throw new CliError(`there is no plan: ${summaryOf(diagnostics)}`)
  const versions = versionsOfApi(plan.plan, api)
  const chosen = version ?? (versions.length === 1 ? versions[0] : undefined)
  // First the API: an unknown name would otherwise be reported as an unknown version.
  if (versions.length === 0) {
    const known = [...new Set(Object.values(plan.plan.routes).map((route) => route.api))].sort()
    throw new CliError(`there is no API \`${api}\``, `The APIs are: ${listed(known) || "none"}.`)
  }
  if (chosen === undefined || !versions.includes(chosen)) {
    // `null` stands for the routes without a version.
    const names = versions.filter((each) => each !== null)
    throw new CliError(
      version === undefined ? `\`${api}\` has several versions` : `\`${api}\` has no version \`${version}\``,
      names.length === 0
        ? "Remove --api-version: the API has no versions."
        : `Add --api-version with one of ${listed(names)}.`,
    )
  }
  const served = {
    // The route that serves the document is left out of the document.
    routes: Object.fromEntries(Object.entries(plan.plan.routes).filter(([key]) => !documentation.has(key))),
    step: (id: StepId) => plan.plan.steps[id],
    errors: plan.plan.gateway?.errors ?? ("problem" as const),
  }
  io.out(printDocument(exportDocument(exportParts(served, described, api, chosen)), format))
  return exitCode.ok
})

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ")
}
