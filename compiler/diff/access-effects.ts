import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import { breaking, closes, type Finding, opens } from "../analysis/finding.ts"
import type { AccessKind } from "./access-words.ts"

type Effects<Kinds extends StepKind> = {
  readonly [Kind in Kinds]: (step: StepOf<Kind>) => readonly Finding[] | Finding
}

/** What it means that a step that decides who may pass is there now. */
export const accessAdded: Effects<AccessKind> = {
  "require-any": () => closes("who has none of these relations is refused with 403"),
  "require-all": () => closes("who does not have all of these relations is refused with 403"),
  filter: ({ relation }) => closes(`callers do not see items on which they are not \`${relation}\``),
  grant: ({ action, relation }) =>
    action === "write"
      ? opens(`whoever the backend says yes to makes somebody \`${relation}\``)
      : closes(`after a yes of the backend somebody is not \`${relation}\` any more`),
}

/** What it means that such a step is gone. */
export const accessRemoved: Effects<AccessKind> = {
  "require-any": () => opens("nobody has to have one of these relations any more"),
  "require-all": () => opens("nobody has to have these relations any more"),
  filter: ({ relation }) => opens(`callers see items too on which they are not \`${relation}\``),
  grant: ({ action, relation }) =>
    action === "write"
      ? breaking(`nobody becomes \`${relation}\` by this any more`)
      : opens(`who was \`${relation}\` stays it`),
}
