// Keeps the pages alive when a translator or an extension moves nodes that React made. A browser's translator replaces each text by a <font> element, and
// React then throws where it removes that text or inserts beside it (github.com/facebook/react/issues/11538). It would also write into a text that is
// no longer on the page. Must never change what happens to nodes in their own places.

/** What replaces on the page a text that was taken out of it. */
const standIns = new WeakMap<Node, ChildNode>()

/** The node that shows `child` among the children of `parent`; null if there is none. */
function standInAmong(parent: Node, child: Node): Node | null {
  for (let at: Node | null = standIns.get(child) ?? child; at; at = at.parentNode)
    if (at.parentNode === parent) return at
  return null
}

const isFont = (node: Node | null): node is HTMLElement => node?.nodeName === 'FONT'

/** Notes which element has replaced a text. React itself never replaces a text by an element in one step. */
function noteReplaced(records: readonly MutationRecord[]): void {
  for (const { removedNodes, addedNodes, previousSibling, nextSibling } of records) {
    const [text] = removedNodes
    if (!(text instanceof Text) || text.isConnected) continue
    const instead =
      [...addedNodes].find((node) => node instanceof Element) ?? [previousSibling, nextSibling].find(isFont)
    if (!(instead instanceof Element) || !instead.isConnected) continue
    standIns.set(text, instead)
    rewriteObserver.observe(text, { characterData: true })
  }
}

/** Puts a text back that React has changed since. The translator then translates it again. */
const rewriteObserver = new MutationObserver((records) => {
  for (const { target } of records) {
    const instead = standIns.get(target)
    standIns.delete(target)
    if (instead?.isConnected && !target.isConnected) instead.replaceWith(target)
  }
})

/** Call once, before React renders. */
export function surviveMovedNodes(): void {
  const observer = new MutationObserver(noteReplaced)
  observer.observe(document, { childList: true, subtree: true })
  const { removeChild, insertBefore } = Node.prototype
  Node.prototype.removeChild = function <T extends Node>(child: T): T {
    if (child.parentNode === this) return removeChild.call(this, child) as T
    noteReplaced(observer.takeRecords())
    const instead = standInAmong(this, child)
    if (instead) removeChild.call(this, instead)
    return child
  }
  Node.prototype.insertBefore = function <T extends Node>(node: T, before: Node | null): T {
    if (before === null || before.parentNode === this) return insertBefore.call(this, node, before) as T
    noteReplaced(observer.takeRecords())
    return insertBefore.call(this, node, standInAmong(this, before)) as T
  }
}
