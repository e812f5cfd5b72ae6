import { coverageKinds, type GatewayCoverage, gatewayPercent } from "../../gateway-test/gateway-coverage.ts"
import { type MutationResult, noticedPercent } from "../../gateway-test/mutation.ts"
import type { GatewayFailure, GatewayTestResult } from "../../gateway-test/run-suite.ts"
import { placeOf } from "../../render/text.ts"
import { visible } from "../../render/width.ts"
import type { GatewaySuiteResult } from "../gateway-run.ts"

/** How text is marked. */
type Marks = Readonly<Record<"red" | "green" | "bold" | "dim", (text: string) => string>>

/** A line for the file, and the details of its failures. */
export function gatewaySuiteText(
  { suite, tests, skipped, passed }: GatewaySuiteResult,
  marks: Marks,
): string {
  const name = suite.name === suite.file.path ? "" : `  ${visible(suite.name)}`
  const expectations = tests.reduce((sum, each) => sum + each.expectations, 0)
  const left = skipped.length === 0 ? "" : `, ${skipped.length} skipped`
  const count = `${counted(tests.length, "test")}, ${counted(expectations, "expectation")}${left}`
  const head = `${passed ? marks.green("ok  ") : marks.red("FAIL")}  ${visible(suite.file.path)}${name}  ${marks.dim(count)}\n`
  const failures = tests.filter((test) => !test.passed).map((test) => testText(test, marks))
  return `${head}${failures.join("")}${failures.length === 0 ? "" : "\n"}`
}

function testText({ test, failures, error }: GatewayTestResult, marks: Marks): string {
  const broken =
    error === undefined
      ? ""
      : `    ${marks.red("the test did not end")}  ${marks.dim(placeOf(test.span))}\n      ${visible(error)}\n`
  return `\n  ${marks.bold(visible(test.name))}\n${failures.map((failure) => failureText(failure, marks)).join("")}${broken}`
}

/** Expected and found below each other, as for questions to models. */
function failureText({ request, what, span, expected, got, why }: GatewayFailure, marks: Marks): string {
  const lines = [
    `    ${marks.red(visible(`${request}: ${what}`))}  ${marks.dim(placeOf(span))}`,
    `      expected  ${visible(expected)}`,
    `      got       ${visible(got)}`,
    ...why.map((line, at) => `      ${at === 0 ? "why       " : "          "}${visible(line)}`),
  ]
  return `${lines.join("\n")}\n`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`
}

const routesShown = 3

/** The coverage of a gateway: totals of each kind, and the lines that no test shows. */
export function gatewayCoverageText(coverage: GatewayCoverage, percentMin: number, marks: Marks): string {
  const { config, counts, gaps } = coverage
  const percent = gatewayPercent(coverage)
  const totals = coverageKinds
    .map((kind) => `${kind} ${counts[kind].shown} of ${counts[kind].all}`)
    .join(", ")
  const head = `\ncoverage of ${visible(config)}: ${percent} %${tooLow(percent, percentMin, marks)}\n  ${totals}\n`
  const lines = gaps.map(
    ({ what, place, routes }) =>
      `  not tested:  ${place === "" ? "" : `${visible(place)}  `}${visible(what)}  ${marks.dim(routesText(routes))}\n`,
  )
  return `${head}${lines.join("")}`
}

/** What weakening each guard showed. */
export function mutationText(result: MutationResult, percentMin: number, marks: Marks): string {
  const { config, mutants, survivors, ms } = result
  const percent = noticedPercent(result)
  const noticed = mutants - survivors.length
  const head = `\nguards of ${visible(config)}: ${noticed} of ${mutants} noticed when weakened (${percent} %)${tooLow(percent, percentMin, marks)}, in ${(ms / 1000).toFixed(1)} s\n`
  const lines = survivors.map(({ what, place, routes, isReached }) => {
    const reach = isReached ? "" : "; no test reaches it"
    return `  no test notices:  ${visible(place)}  ${visible(what)}${reach}  ${marks.dim(routesText(routes))}\n`
  })
  return `${head}${lines.join("")}`
}

function tooLow(percent: number, percentMin: number, marks: Marks): string {
  return percent >= percentMin ? "" : marks.red(`, ${percentMin} % are required`)
}

/** The first routes, and how many more. */
function routesText(routes: readonly string[]): string {
  const more = routes.length - routesShown
  const named = visible(routes.slice(0, routesShown).join(", "))
  return more > 0 ? `${named} and ${more} more` : named
}
