// To older pages of a list, and back to the newest.

export function Pager({
  cursor,
  next,
  go,
}: {
  cursor: string | null
  next: string | null
  go: (cursor: string | null) => void
}) {
  if (cursor === null && next === null) return null
  return (
    <div className="buttons">
      {cursor && (
        <button type="button" className="button quiet" onClick={() => go(null)}>
          Newest
        </button>
      )}
      {next && (
        <button type="button" className="button quiet" onClick={() => go(next)}>
          Older
        </button>
      )}
    </div>
  )
}
