// The patches of planted bugs: how they are parsed, where they apply, and how a refresh finds a displaced one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  applyHunks,
  formatPatch,
  type Hunk,
  isInSlice,
  kindOf,
  parsePatch,
  patchFileName,
  refreshHunk,
} from '../../scripts/planted/patch.ts'

const PATCH = `a sum is wrong, by one

Because of this.

Noticed by: test/a.test.ts
Noticed by: test/b.test.ts

--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,3 @@
 one
-two
+three
 four
@@ -6,2 +6,3 @@
 six
+six and a half
 seven
`
const TEXT = 'one\ntwo\nfour\nfive\n\nsix\nseven\n'
const hunksOf = (patch: string): readonly Hunk[] => parsePatch(patch).edits[0]?.hunks ?? []

test('a patch is read, and written as it was', () => {
  const bug = parsePatch(PATCH)
  assert.equal(bug.name, 'a sum is wrong, by one')
  assert.deepEqual(bug.tests, ['test/a.test.ts', 'test/b.test.ts'])
  assert.deepEqual(
    bug.edits.map(({ file, hunks }) => [file, hunks.length]),
    [['src/a.ts', 2]],
  )
  assert.equal(
    formatPatch(bug, () => TEXT),
    PATCH,
  )
  assert.deepEqual([kindOf(bug), kindOf(parsePatch(PATCH.replace('Because of this.', 'Kind: f')))], [null, 'f'])
  assert.equal(patchFileName(bug.name), 'a-sum-is-wrong-by-one.patch')
})

test('the reader ignores git’s lines before a file, and accepts a removed SQL comment', () => {
  const text =
    'x\nNoticed by: y\ndiff --git a/m.sql b/m.sql\nindex 1..2 100644\n--- a/m.sql\n+++ b/m.sql\n@@ -1 +1 @@\n--- a/b\n+-- c\n'
  assert.equal(applyHunks('-- a/b\n', hunksOf(text)), '-- c\n')
})

test('a patch without a name, a test, a file, a change, or with other lines is refused', () => {
  for (const [text, reason] of [
    ['\nNoticed by: y\n--- a/f\n+++ b/f\n@@ @@\n-a\n', /first line must be the name/],
    ['x\n--- a/f\n+++ b/f\n@@ @@\n-a\n', /names no test/],
    ['x\nNoticed by: y\n', /changes no file/],
    ['x\nKind: z\nNoticed by: y\n', /no kind z/],
    ['x\nNoticed by: y\n--- a/f\n+++ b/f\n', /changes nothing in f/],
    ['x\nNoticed by: y\n--- a/f\n+++ b/f\n@@ @@\n a\n', /changes nothing in f/],
    ['x\nNoticed by: y\n--- a/f\n+++ b/f\n@@ @@\n+a\n', /no line to be found by/],
    ['x\nNoticed by: y\n--- a/f\n+++ b/f\n@@ @@\n-a\nb\n', /line 7 is no part of a patch: b/],
  ] as const) {
    assert.throws(() => parsePatch(text), reason)
  }
})

test('all hunks apply at their lines, with any line numbers', () => {
  const changed = 'one\nthree\nfour\nfive\n\nsix\nsix and a half\nseven\n'
  assert.equal(applyHunks(TEXT, hunksOf(PATCH)), changed)
  assert.equal(applyHunks(`before\n${TEXT}`, hunksOf(PATCH)), `before\n${changed}`)
})

test('missing lines are stale, repeated ones ambiguous, and a part of a line is no line', () => {
  assert.throws(() => applyHunks(TEXT.replace('two', 'TWO'), hunksOf(PATCH)), /stale: .* around "two"/)
  assert.throws(() => applyHunks(TEXT.replace('one', 'None'), hunksOf(PATCH)), /stale/)
  assert.throws(() => applyHunks(TEXT + TEXT, hunksOf(PATCH)), /ambiguous: .* around "two"/)
})

test('a hunk is found again by its own lines if those around it have changed', () => {
  const [hunk, added] = hunksOf(PATCH) as [Hunk, Hunk]
  const text = 'ONE\ntwo\nFOUR\nsix\nSEVEN\n'
  const asText = (each: Hunk | null) => each?.map(({ op, line }) => op + line)
  assert.deepEqual(asText(refreshHunk(text, hunk)), [' ONE', '-two', '+three', ' FOUR'])
  assert.deepEqual(asText(refreshHunk(text, added)), [' six', '+six and a half', ' SEVEN'])
  assert.equal(refreshHunk('ONE\nTWO\n', hunk), null)
})

test('a hunk takes as many lines of context as one place needs', () => {
  const [hunk] = hunksOf(PATCH) as [Hunk]
  const text = 'zero\none\ntwo\nfour\nend\n'
  const kept = refreshHunk(`one\ntwo\nfour\n${text.replace('zero', '')}`, [{ op: ' ', line: '' }, ...hunk])
  assert.deepEqual(
    kept?.filter(({ op }) => op !== '+').map(({ line }) => line),
    ['', 'one', 'two', 'four', 'end'],
  )
})

test('each name is in one slice of any number, independent of other names', () => {
  const names = Array.from({ length: 100 }, (_, i) => `bug ${i}`)
  const slices = ['1/3', '2/3', '3/3'].map((slice) => names.filter((name) => isInSlice(name, slice)))
  assert.deepEqual(slices.flat().sort(), names.toSorted())
  assert.ok(slices.every(({ length }) => length > 20))
  for (const slice of ['0/3', '4/3', '1', '1/0', 'a/b', '1/3/5']) {
    assert.throws(() => isInSlice('bug', slice), /--slice takes K\/N/)
  }
})
