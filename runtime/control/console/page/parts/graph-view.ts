import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"

const zoomMin = 0.2
const zoomMax = 3
/** A mouse that moves less than this, in pixels, has clicked. */
const dragMin = 4

type View = { readonly current: HTMLElement | null }

/** The zoom of a drawing that scrolls in a view. `by` keeps the middle of the view, or the point of the mouse, where it is. */
export interface GraphZoom {
  readonly zoom: Signal<number>
  by(factor: number, at?: { readonly x: number; readonly y: number }): void
  /** Shows all of it, at most in its natural size. */
  showAll(): void
}

/** Zooms a drawing of a size in pixels. The wheel zooms with Ctrl, which is also how a touchpad reports two fingers. */
export function useZoom(
  view: View,
  { width, height }: { readonly width: number; readonly height: number },
): GraphZoom {
  const zoom = useSignal(1)
  const by: GraphZoom["by"] = (factor, at) => {
    const element = view.current
    if (element === null) return
    const before = zoom.peek()
    const after = Math.min(zoomMax, Math.max(zoomMin, before * factor))
    const { x, y } = at ?? { x: element.clientWidth / 2, y: element.clientHeight / 2 }
    const [left, top] = [element.scrollLeft, element.scrollTop]
    zoom.value = after
    // After the drawing has its new size.
    requestAnimationFrame(() =>
      element.scrollTo({
        left: ((left + x) * after) / before - x,
        top: ((top + y) * after) / before - y,
      }),
    )
  }
  const showAll = () => {
    const element = view.current
    if (element === null || width === 0 || height === 0) return
    zoom.value = Math.max(zoomMin, Math.min(1, element.clientWidth / width, element.clientHeight / height))
  }
  useEffect(() => {
    const element = view.current
    if (element === null) return
    const turned = (event: WheelEvent) => {
      if (!event.ctrlKey) return
      event.preventDefault()
      const { left, top } = element.getBoundingClientRect()
      by(Math.exp(-event.deltaY / 300), { x: event.clientX - left, y: event.clientY - top })
    }
    element.addEventListener("wheel", turned, { passive: false })
    return () => element.removeEventListener("wheel", turned)
  }, [])
  return { zoom, by, showAll }
}

/** Lets a mouse drag what scrolls. Returns whether the mouse has dragged since it was pressed, so that its click means nothing else. */
export function useDragging(view: View): () => boolean {
  const dragged = useRef(false)
  useEffect(() => {
    const element = view.current
    if (element === null) return
    let start:
      | { readonly x: number; readonly y: number; readonly left: number; readonly top: number }
      | undefined
    const down = (event: PointerEvent) => {
      dragged.current = false
      if (event.pointerType !== "mouse" || event.button !== 0) return
      start = { x: event.clientX, y: event.clientY, left: element.scrollLeft, top: element.scrollTop }
    }
    const move = (event: PointerEvent) => {
      if (start === undefined) return
      const [dx, dy] = [event.clientX - start.x, event.clientY - start.y]
      if (Math.hypot(dx, dy) < dragMin && !dragged.current) return
      dragged.current = true
      element.setPointerCapture(event.pointerId)
      element.scrollTo({ left: start.left - dx, top: start.top - dy })
    }
    const up = () => {
      start = undefined
    }
    const listeners = [
      ["pointerdown", down],
      ["pointermove", move],
      ["pointerup", up],
      ["pointercancel", up],
    ] as const
    for (const [name, listener] of listeners) element.addEventListener(name, listener)
    return () => {
      for (const [name, listener] of listeners) element.removeEventListener(name, listener)
    }
  }, [])
  return () => dragged.current
}
