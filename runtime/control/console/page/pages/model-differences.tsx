import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { AuthorizationModel } from "../../../../plan/authorization-model.ts"
import { loadText, versionName } from "../model-api.ts"
import { Badge, Failed, Panel, type Tone } from "../parts/basic.tsx"
import {
  compareModelPair,
  type DifferenceExample,
  type ModelDifferences,
  type RelationDifference,
  readModelText,
} from "../parts/model-desk.ts"
import { addressOf, place, setQuery } from "../router.ts"
import type { ModelDraft } from "./model-draft.ts"

type RelationTones = ReadonlyMap<string, "good" | "bad" | "warn">

/** What the text decides differently than another version, for all tuples there could be, with the smallest counterexamples. `tones` gets the relations that differ. */
export function Differences(props: { readonly draft: ModelDraft; readonly tones: Signal<RelationTones> }) {
  const { draft, tones } = props
  const base = place.value.query.get("compare") ?? (draft.isEdited ? draft.version : undefined)
  const { differences, error, isBusy } = useDifferences(draft, base)
  useEffect(() => {
    tones.value = tonesOf(differences)
  }, [differences])
  return (
    <Panel title="Differences" aside={<Base draft={draft} base={base} />}>
      {error !== undefined && <Failed error={error} />}
      {base === undefined ? (
        <p class="quiet hint">Choose a version to compare with, or edit the text.</p>
      ) : (
        <div aria-live="polite" aria-busy={isBusy}>
          {differences === undefined ? (
            error === undefined && <p class="quiet hint">Comparing …</p>
          ) : (
            <Listed differences={differences} />
          )}
        </div>
      )}
    </Panel>
  )
}

function Base({ draft, base }: { readonly draft: ModelDraft; readonly base: string | undefined }) {
  return (
    <label class="inline-field">
      <span>Compared with</span>
      <select onChange={({ currentTarget: { value } }) => setQuery({ compare: value })}>
        <option value="" selected={base === undefined}>
          nothing
        </option>
        {draft.versions.map(({ id }, at) => (
          <option key={id} value={id} selected={id === base}>
            {versionName(id, at)}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Compares after each change of either model. A comparison of older ones is ended. */
function useDifferences({ store, model }: ModelDraft, base: string | undefined) {
  const before = useSignal<AuthorizationModel | undefined>(undefined)
  const differences = useSignal<ModelDifferences | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  useEffect(() => {
    before.value = undefined
    differences.value = undefined
    if (base === undefined) return
    let isOld = false
    loadText(store, base)
      .then(({ path, text }) => readModelText(path, text))
      .then(
        (reading) => {
          if (!isOld) before.value = reading.model
        },
        (reason: unknown) => {
          if (!isOld) error.value = reason
        },
      )
    return () => {
      isOld = true
    }
  }, [store, base])
  const old = before.value
  useEffect(() => {
    if (old === undefined || model === undefined) return
    let isOld = false
    isBusy.value = true
    compareModelPair(old, model).then(
      (found) => {
        if (isOld) return
        differences.value = found
        error.value = undefined
        isBusy.value = false
      },
      (reason: unknown) => {
        if (!isOld) error.value = reason
      },
    )
    return () => {
      isOld = true
    }
  }, [old, model])
  return { differences: differences.value, error: error.value, isBusy: isBusy.value }
}

function tonesOf(differences: ModelDifferences | undefined): RelationTones {
  const { added = [], relations = [] } = differences ?? {}
  return new Map([
    ...added.map((name) => [name, "good"] as const),
    ...relations.flatMap(({ relation, verdict }) => {
      const { tone } = verdicts[verdict]
      return tone === "plain" ? [] : [[relation, tone] as const]
    }),
  ])
}

const verdicts: Readonly<
  Record<RelationDifference["verdict"], { readonly tone: Exclude<Tone, "good">; readonly words: string }>
> = {
  same: { tone: "plain", words: "nobody gains or loses it" },
  wider: { tone: "warn", words: "some gain it, nobody loses it" },
  narrower: { tone: "bad", words: "some lose it, nobody gains it" },
  incomparable: { tone: "bad", words: "some gain it, others lose it" },
}

function Listed({ differences: { added, removed, relations } }: { readonly differences: ModelDifferences }) {
  if (added.length + removed.length + relations.length === 0)
    return <p class="hint">Nobody gains or loses a relation: both decide in the same way.</p>
  return (
    <ul class="differences">
      {removed.map((name) => (
        <li key={name}>
          <code>{name}</code> <Badge tone="bad">removed</Badge>{" "}
          <span class="quiet">checks of it fail with an error</span>
        </li>
      ))}
      {added.map((name) => (
        <li key={name}>
          <RelationLink name={name} /> <Badge tone="good">new</Badge>
        </li>
      ))}
      {relations.map((each) => (
        <li key={each.relation}>
          <RelationLink name={each.relation} />{" "}
          <Badge tone={verdicts[each.verdict].tone}>{each.verdict}</Badge> {verdicts[each.verdict].words}
          {each.verdict !== "incomparable" && <span class="quiet"> ({shownWords(each)})</span>}
          {each.gain && <Example example={each.gain} word="gains" />}
          {each.loss && <Example example={each.loss} word="loses" />}
        </li>
      ))}
    </ul>
  )
}

/** Opens the relation in the drawing. */
function RelationLink({ name }: { readonly name: string }) {
  const { segments, query } = place.value
  return (
    <a href={addressOf(segments, { ...Object.fromEntries(query), focus: name })}>
      <code>{name}</code>
    </a>
  )
}

function shownWords({ shown }: RelationDifference): string {
  if (shown === "proved") return "proved"
  if (shown === "without cycles") return "proved for objects that do not lead back to themselves"
  if (shown === "unknown") return "not proved"
  return `true with fewer than ${shown.fewerThan} tuples that lead to no object twice`
}

function Example({ example, word }: { readonly example: DifferenceExample; readonly word: string }) {
  const { user, relation, object, tuples } = example
  return (
    <div class="example">
      <p>
        For example, <code>{user}</code> {word} <code>{relation}</code> of <code>{object}</code> with{" "}
        {tuples.length === 1 ? "this tuple:" : "these tuples:"}
      </p>
      <ul class="plain-list">
        {tuples.map((tuple) => (
          <li key={`${tuple.user} ${tuple.relation} ${tuple.object}`}>
            <code>{`${tuple.user} ${tuple.relation} ${tuple.object}`}</code>
            {tuple.condition !== undefined && (
              <span class="quiet">
                {" "}
                with {tuple.condition}
                {tuple.context !== undefined && ` and ${JSON.stringify(tuple.context)}`}
                {tuple.onlyIn !== undefined && `, true in the ${tuple.onlyIn} model only`}
              </span>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}
