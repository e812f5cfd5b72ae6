import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef } from "preact/hooks"

/** A dialog over the page. Escape and `onClose` close it; the focus returns to where it was. */
export function Dialog(props: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={props.onClose}>
      <h2 id={id}>{props.title}</h2>
      {props.children}
    </dialog>
  )
}
