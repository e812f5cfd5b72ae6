import { momentText } from "../../../control/console/page/format.ts"
import { useLoaded } from "../../../control/console/page/loaded.ts"
import {
  Badge,
  Empty,
  Failed,
  Loading,
  Message,
  PageHead,
  Panel,
  type Tone,
} from "../../../control/console/page/parts/basic.tsx"
import { addressOf } from "../../../control/console/page/router.ts"
import type { AnnouncedEnd, ChangelogAnswer, ChangeNote, NoteKind } from "../../api.ts"
import { LifecycleNotice, versionSegment } from "../parts/lifecycle.tsx"
import { textOf } from "../texts.ts"

const tones: Readonly<Record<NoteKind, Tone>> = {
  ...{ breaking: "bad", deprecated: "warn", added: "good", changed: "plain" },
}

/** What changed for callers, breaking changes first in each entry. */
export default function Changelog() {
  const { answer, error, reload } = useLoaded<ChangelogAnswer>("/api/changelog")
  const entries = answer.value?.entries
  return (
    <>
      <PageHead title={textOf("nav.changelog")} about={textOf("changelog.about")} />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {entries === undefined && error.value === undefined && <Loading />}
      {answer.value && answer.value.ends.length > 0 && (
        <Panel title={textOf("changelog.ends")}>
          <ul class="ends">
            {answer.value.ends.map((end) => (
              <End key={`${end.api} ${end.version}`} end={end} />
            ))}
          </ul>
        </Panel>
      )}
      {entries?.length === 0 && <Empty title={textOf("changelog.none")} />}
      {entries?.map(({ at, notes, cut }) => (
        <Panel key={at} title={momentText(at)}>
          <ul class="plain-list">
            {notes.map((note) => (
              <Note key={`${note.api} ${note.version} ${note.operation} ${note.text}`} note={note} />
            ))}
          </ul>
          {cut && <p class="quiet">There are more changes.</p>}
        </Panel>
      ))}
    </>
  )
}

function Note({ note: { kind, api, version, operation, text } }: { readonly note: ChangeNote }) {
  const name = version === null ? api : `${api} ${version}`
  // The sentence begins with what it is about, which has a form of its own here.
  const subject = operation ?? name
  const rest = text.startsWith(`${subject} `) ? text.slice(subject.length) : ` ${text}`
  return (
    <li>
      <Badge tone={tones[kind]}>{kind}</Badge>{" "}
      <a href={addressOf(["apis", api, versionSegment(version)])}>{name}</a>{" "}
      {operation !== null && <code>{operation}</code>}
      <Message text={rest} />
    </li>
  )
}

function End({ end: { api, version, lifecycle } }: { readonly end: AnnouncedEnd }) {
  return (
    <li>
      <a href={addressOf(["apis", api, versionSegment(version)])}>
        {api}
        {version !== null && ` ${version}`}
      </a>
      <LifecycleNotice api={api} lifecycle={lifecycle} />
    </li>
  )
}
