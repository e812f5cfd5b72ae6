import { expect, test } from "vitest"
import { comparePlans } from "../../compiler/diff/compare-plans.ts"
import { isImplied } from "../../compiler/gateway/relation-order.ts"
import { changesText } from "../../compiler/render/changes.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import { engineLimitDefaults } from "../../runtime/plan/authz.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { withAnother } from "../model-compare/another-model.ts"
import { NaiveEvaluator, yes } from "../naive/evaluator.ts"
import { Random } from "../naive/random.ts"
import { judgeWith, type RandomWorld, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled } from "../support/random-run.ts"

const worlds = scaled(75, 0.4)

function planWith(model: AuthorizationModel): PlanBody {
  const digest = digestOf(model)
  return {
    gateway: null,
    authz: {
      listen: [],
      public: false,
      maxStalenessMs: null,
      memoryBytes: 536_870_912,
      readyWhenWarm: false,
      auth: null,
      limits: engineLimitDefaults,
      cors: { origins: [], headers: [] },
      authzen: { store: null, url: null },
      stores: { s: { model: digest } },
    },
    values: {},
    secrets: {},
    issuers: {},
    backends: {},
    products: {},
    subscriptions: {},
    routes: {},
    steps: {},
    models: { [digest]: lowerModel(model) },
    schemas: {},
  }
}

/** Everything the world says yes to. */
function grants({ tuples, objects, users }: RandomWorld, model: AuthorizationModel): Set<string> {
  const judge = judgeWith({ x: 1, p: true, q: true }, true)
  const found = new Set<string>()
  for (const user of users)
    for (const [node, value] of new NaiveEvaluator(model, tuples, objects, user, judge).solve())
      if (value === yes && node !== user) found.add(`${user} ${node}`)
  return found
}

test(`a change of a model that gives somebody something says it opens, one that takes it away says so (${worlds} worlds)`, () => {
  let gained = 0
  let lost = 0
  for (let at = 0; at < worlds; at += 1) {
    const random = new Random(firstSeed + at)
    const world = randomWorld(random)
    const after = withAnother(world.model, randomWorld(random).model, random)
    const [old, next] = [grants(world, world.model), grants(world, after)]
    const changes = comparePlans(planWith(world.model), planWith(after))
    const reasons = changes.flatMap((change) => change.reasons)
    const risks = new Set(reasons.map(({ risk }) => risk))
    const show = () =>
      `seed ${firstSeed + at}: ${[...next].filter((each) => !old.has(each))} came, ${[...old].filter((each) => !next.has(each))} went\n${changesText(changes, { colour: false })}`
    if ([...next].some((each) => !old.has(each))) {
      gained += 1
      expect(risks.has("opens"), show()).toBe(true)
    }
    if ([...old].some((each) => !next.has(each))) {
      lost += 1
      expect(risks.has("closes") || risks.has("breaking"), show()).toBe(true)
    }
  }
  expect(Math.min(gained, lost)).toBeGreaterThan(worlds / 20)
})

test("a relation that is said to follow from another does, in every world", () => {
  let followed = 0
  for (let at = 0; at < worlds; at += 1) {
    const world = randomWorld(new Random(firstSeed + at))
    const plan = lowerModel(world.model)
    const granted = grants(world, world.model)
    for (const each of granted) {
      const [user = "", object = "", narrow = ""] = each.split(/[ ](?=[^ ]+$)|#(?=[^#]+$)/)
      for (const wide of ["a", "b", "c", "d"]) {
        if (wide === narrow || !isImplied(plan, object.split(":")[0] as string, narrow, wide)) continue
        followed += 1
        expect(
          granted.has(`${user} ${object}#${wide}`) || user === `${object}#${wide}`,
          `seed ${firstSeed + at}: ${each}, ${wide}`,
        ).toBe(true)
      }
    }
  }
  expect(followed).toBeGreaterThan(worlds / 2)
})
