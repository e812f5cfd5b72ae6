import type { ImpactRow } from "../../../../../check/access-change.ts"
import type { TupleImpactAnswer } from "../../../../tuple-impact.ts"
import { CallFailure, call } from "../../client.ts"
import { counted } from "../../format.ts"
import type { Loaded } from "../../loaded.ts"
import { AccessBadge, accessChanges, WholeChanges } from "../../parts/access-changes.tsx"
import { Failed, Panel } from "../../parts/basic.tsx"
import { WindowList } from "../../parts/window-list.tsx"
import { place } from "../../router.ts"
import type { TupleStep } from "../../tuple-lines.ts"
import { ContextField, contextOf, Question } from "./question.tsx"

const againMs = 1_000
type RelationChange = TupleImpactAnswer["relations"][number]

/** Who gains and who loses by the steps of an edit. */
export function Preview({ impact }: { readonly impact: Loaded<TupleImpactAnswer> }) {
  const { answer, error, reload } = impact
  const found = answer.value
  const hasConditions = found?.relations.some(({ conditions }) => conditions.length > 0) ?? false
  return (
    <Panel title="Who gains, who loses" aside={found && `at revision ${found.revision}`}>
      {error.value !== undefined ? (
        <Failed error={error.value} retry={reload} />
      ) : found === undefined ? (
        <p class="quiet" role="status">
          Comparing the access before and after …
        </p>
      ) : (
        <Impact found={found} />
      )}
      {(hasConditions || place.value.query.has("context")) && (
        <Question view="edit" fields={[]} button="Use these values" kept={["steps"]}>
          <ContextField />
        </Question>
      )}
    </Panel>
  )
}

/** Asks who gains and who loses. Waits while the process answers another such question. */
export async function askImpact(
  store: string,
  steps: readonly TupleStep[],
  query: URLSearchParams,
): Promise<TupleImpactAnswer> {
  const keys = (kind: TupleStep["kind"]) =>
    steps.filter((each) => each.kind === kind).map(({ tuple }) => tuple)
  const body = { store, writes: keys("add"), deletes: keys("remove"), context: contextOf(query) }
  for (;;)
    try {
      return await call("POST", "/v1/tuples/impact", body)
    } catch (error) {
      // A process answers one such question at a time.
      if (!(error instanceof CallFailure) || error.status !== 409) throw error
      await new Promise((resolve) => setTimeout(resolve, againMs))
    }
}

function Impact({ found }: { readonly found: TupleImpactAnswer }) {
  const { relations, rows, compared, candidates } = found
  return (
    <div aria-live="polite">
      {relations.length === 0 && <p class="strong">Nobody gains or loses access.</p>}
      <ul class="edit-effects">
        {relations.map((relation) => (
          <Effect key={relation.relation} relation={relation} rows={rows} />
        ))}
      </ul>
      {compared < candidates && (
        <p class="notice warn">
          The memory for this comparison was not enough: it has {compared.toLocaleString("en")} of{" "}
          {counted(candidates, "object and relation", "objects and relations")}. More may change.
        </p>
      )}
    </div>
  )
}

/** What changes by one relation. Groups and wildcards are named as such, not by their members. */
function Effect({
  relation,
  rows,
}: {
  readonly relation: RelationChange
  readonly rows: TupleImpactAnswer["rows"]
}) {
  const { relation: name, objects, users, sets, everyone, groups, exceptions, conditions, deep } = relation
  const own = (rows ?? []).filter((row) => nameOf(row) === name)
  // The members of a group that changes as a whole are not spelled out.
  const shown = own.filter(
    ({ user, change }) =>
      user.includes("#") || user.endsWith(":*") || !groups.some((group) => group.change === change),
  )
  return (
    <li>
      <h3>
        <code>{name}</code> <span class="quiet">on {counted(objects, "object")}</span>
      </h3>
      <ul class="names">
        <WholeChanges {...{ everyone, groups, exceptions }} />
        {accessChanges
          .filter((change) => users[change] > 0)
          .map((change) => (
            <li key={change}>
              <AccessBadge change={change} />{" "}
              {groups.some((group) => group.change === change) ? "in all " : ""}
              {counted(users[change], "access of a named user", "accesses of named users")}
            </li>
          ))}
        {accessChanges
          .filter((change) => sets[change] > 0)
          .map((change) => (
            <li key={`sets ${change}`} class="quiet">
              <AccessBadge change={change} />{" "}
              {counted(
                sets[change],
                "group that tuples name, as a user",
                "groups that tuples name, as users",
              )}
            </li>
          ))}
      </ul>
      <Uncertain conditions={conditions} deep={deep} />
      {shown.length > 0 && <Rows rows={shown} label={`Changes of ${name}`} />}
    </li>
  )
}

/** What values or a limit may still decide. */
function Uncertain({ conditions, deep }: Pick<RelationChange, "conditions" | "deep">) {
  return (
    <>
      {conditions.length > 0 && (
        <p class="quiet">Conditions decide some of it: {conditions.join(", ")}. Give values to be certain.</p>
      )}
      {deep > 0 && (
        <p class="quiet">A check of {counted(deep, "object")} may take more hops than it may, and fail.</p>
      )}
    </>
  )
}

function Rows({ rows, label }: { readonly rows: readonly ImpactRow[]; readonly label: string }) {
  return (
    <WindowList
      label={label}
      columns={[{ title: "Change" }, { title: "User", class: "wide" }, { title: "Object", class: "wide" }]}
      narrowLines={2}
      count={rows.length}
      cells={(index) => {
        const row = rows[index]
        if (row === undefined) return []
        return [
          <AccessBadge key="change" change={row.change} />,
          <span key="user" title={row.user}>
            {row.user}
          </span>,
          <span key="object" title={row.object}>
            {row.object}
          </span>,
        ]
      }}
    />
  )
}

function nameOf({ relation, object }: ImpactRow): string {
  return relation.includes("#") ? relation : `${object.split(":", 1)[0]}#${relation}`
}
