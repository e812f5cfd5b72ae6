import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { LoggedRequest, RefusalAnswer } from "../../../api.ts"
import { watch } from "../events.ts"
import { momentText, msText } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Badge, Empty, Fact, Failed, Loading, Message, PageHead, Panel, Table } from "../parts/basic.tsx"
import { LogLineDetails, toneOf } from "../parts/log-line.tsx"
import { QueryField } from "../parts/query-field.tsx"
import { addressOf, place, setQuery } from "../router.ts"

/** Lines that the page keeps. */
const linesMax = 500
const statuses = ["2xx", "3xx", "4xx", "5xx", "0xx"]

/** Requests as they finish, or why one was refused. */
export default function LogPage() {
  const id = place.value.segments[1]
  return id === undefined ? <Tail /> : <Refusal key={id} id={id} />
}

function Tail() {
  const lines = useSignal<readonly LoggedRequest[]>([])
  const dropped = useSignal(0)
  const isPaused = useSignal(false)
  const opened = useSignal<string | undefined>(undefined)
  const { query } = place.value
  const filters = Object.fromEntries(
    ["route", "status", "caller", "problem", "refused"].map((name) => [name, query.get(name) ?? undefined]),
  )
  const filterText = JSON.stringify(filters)
  useEffect(() => {
    lines.value = []
    return watch({
      filters,
      log: (line) => {
        if (!isPaused.peek()) lines.value = [line, ...lines.peek().slice(0, linesMax - 1)]
      },
      dropped: (more) => {
        dropped.value = dropped.peek() + more
      },
    })
  }, [filterText])
  usePauseKey(() => {
    isPaused.value = !isPaused.peek()
  })
  const clear = () => {
    lines.value = []
    dropped.value = 0
  }
  return (
    <>
      <TailHead isPaused={isPaused} onClear={clear} />
      <Filters query={query} />
      {dropped.value > 0 && (
        <p class="notice warn">
          {dropped.value.toLocaleString("en")} lines were left out, because there were more than 50 in a
          second. Filters show those that you mean.
        </p>
      )}
      {lines.value.length === 0 ? (
        <Empty title={isPaused.value ? "Paused" : "Waiting for requests …"}>
          Only requests that finish from now on are shown.
        </Empty>
      ) : (
        <Lines
          lines={lines.value}
          opened={opened.value}
          onOpen={(id) => {
            opened.value = opened.peek() === id ? undefined : id
          }}
        />
      )}
    </>
  )
}

function TailHead(props: { readonly isPaused: Signal<boolean>; readonly onClear: () => void }) {
  const { isPaused, onClear } = props
  return (
    <PageHead
      title="Log"
      about="Requests of this process as they finish"
      actions={
        <>
          <button
            type="button"
            aria-pressed={isPaused.value}
            onClick={() => {
              isPaused.value = !isPaused.peek()
            }}
          >
            {isPaused.value ? "Continue" : "Pause"} <kbd>p</kbd>
          </button>
          <button type="button" onClick={onClear}>
            Clear
          </button>
        </>
      }
    />
  )
}

function usePauseKey(toggle: () => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== "p" || event.ctrlKey || event.metaKey || event.altKey) return
      if (!(event.target instanceof Element && event.target.matches("input, select, textarea"))) toggle()
    }
    addEventListener("keydown", pressed)
    return () => removeEventListener("keydown", pressed)
  }, [])
}

function Filters({ query }: { readonly query: URLSearchParams }) {
  return (
    <div class="filters">
      <QueryField name="route" label="Route" />
      <label>
        <span>Status</span>
        <select
          value={query.get("status") ?? ""}
          onChange={(event) => setQuery({ status: event.currentTarget.value })}
        >
          <option value="">all</option>
          {statuses.map((each) => (
            <option key={each} value={each}>
              {each === "0xx" ? "disconnected" : each}
            </option>
          ))}
        </select>
      </label>
      <QueryField name="caller" label="Caller" />
      <QueryField name="problem" label="Problem" />
      <label class="check">
        <input
          type="checkbox"
          checked={query.get("refused") === "true"}
          onChange={(event) => setQuery({ refused: event.currentTarget.checked ? "true" : undefined })}
        />
        <span>only refused</span>
      </label>
    </div>
  )
}

function Lines(props: {
  readonly lines: readonly LoggedRequest[]
  readonly opened: string | undefined
  readonly onOpen: (id: string) => void
}) {
  return (
    <div class="panel">
      <Table
        label="Requests"
        columns={["Time", "Status", "Request", "Caller", "Problem", { number: "Duration" }]}
        class="list log"
      >
        {props.lines.map((line) => (
          <LineRow key={line.id} line={line} isOpen={props.opened === line.id} onOpen={props.onOpen} />
        ))}
      </Table>
    </div>
  )
}

function LineRow(props: {
  readonly line: LoggedRequest
  readonly isOpen: boolean
  readonly onOpen: (id: string) => void
}) {
  const { line, isOpen, onOpen } = props
  return (
    <>
      <tr>
        <td class="number">{line.at.slice(11, 23)}</td>
        <td>
          <Badge tone={toneOf(line.status)}>{line.status || "gone"}</Badge>
        </td>
        <td>
          <button type="button" class="link" aria-expanded={isOpen} onClick={() => onOpen(line.id)}>
            <code>
              {line.method} {line.path}
            </code>
          </button>
        </td>
        <td>{line.user ?? line.subscription ?? <span class="quiet">{line.ip}</span>}</td>
        <td>
          {line.problem && (
            <a href={addressOf(["log", line.id])} title="Why?">
              {line.problem}
            </a>
          )}
        </td>
        <td class="number">{msText(line.ms)}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={6}>
            <LogLineDetails line={line} hasTry />
          </td>
        </tr>
      )}
    </>
  )
}

/** Why a request was refused. */
function Refusal({ id }: { readonly id: string }) {
  const { answer, error, reload } = useLoaded<RefusalAnswer>(`/v1/refusals/${encodeURIComponent(id)}`)
  const found = answer.value
  return (
    <>
      <p class="crumbs">
        <a href={addressOf(["log"])}>Log</a>
      </p>
      <PageHead
        title={found ? `${found.refusal.method} ${found.refusal.path}` : "Refused request"}
        about={found ? `${momentText(found.refusal.at)}, request ${id}` : `request ${id}`}
        actions={
          found && (
            <a
              class="button"
              href={addressOf(["try"], {
                method: found.refusal.method,
                target: found.refusal.path,
                sub: found.refusal.user,
              })}
            >
              Try it
            </a>
          )
        }
      />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {found === undefined ? error.value === undefined && <Loading /> : <Why answer={found} />}
    </>
  )
}

function Why({ answer: { refusal, proof } }: { readonly answer: RefusalAnswer }) {
  const { status, problem, cause, answeredBy, decision, route, ...rest } = refusal
  return (
    <>
      <div class="notice bad">
        <p>
          <Badge tone={toneOf(status)}>{status}</Badge> {problem ?? "a statement of the route responded"}
          {answeredBy && (
            <>
              {" "}
              by <code>{answeredBy.kind}</code> at <code>{answeredBy.place}</code>
            </>
          )}
        </p>
        {cause && (
          <p>
            <Message text={cause} />
          </p>
        )}
        {decision && (
          <p>
            <code>{decision.user}</code> {decision.allowed ? "is" : "is not"} <code>{decision.relation}</code>{" "}
            of <code>{decision.object}</code>
            {decision.store && ` in store ${decision.store}`}
          </p>
        )}
      </div>
      {proof && (
        <Panel
          title="Proof"
          aside={
            proof.atRefusal ? `at revision ${proof.revision}, that of the request` : "at the present revision"
          }
        >
          {proof.allowed && <p>The permission was granted since then.</p>}
          <pre class="proof">{proof.text.trimEnd()}</pre>
        </Panel>
      )}
      <Panel title="Request">
        <dl class="facts">
          {route && (
            <div>
              <dt>route</dt>
              <dd>
                <a href={addressOf(["routes", route])}>
                  <code>{route}</code>
                </a>
              </dd>
            </div>
          )}
          {Object.entries(rest).map(([name, value]) => (
            <Fact key={name} name={name} value={value} />
          ))}
        </dl>
      </Panel>
    </>
  )
}
