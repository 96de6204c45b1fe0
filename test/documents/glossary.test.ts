// The glossary has each word once, in order, including the states of a payment; every alert has a symptom in the FAQ.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { PAYMENT_STATES } from '../../src/domain/transitions.ts'
import { readPage } from './pages.ts'

const WORDS = [...readPage('docs/GLOSSARY.md').text.matchAll(/^\| ([^|`]+?) \| [^|]+ \|/gm)]
  .map(([, word = '']) => word)
  .filter((word) => word !== 'word')

test('the glossary has each word once, in the order of the alphabet', () => {
  assert.ok(WORDS.length > 80)
  assert.equal(new Set(WORDS).size, WORDS.length)
  assert.deepEqual(
    WORDS,
    WORDS.toSorted((a, b) => a.replace(/ \(.*/, '').localeCompare(b.replace(/ \(.*/, ''), 'en')),
  )
})

test('the glossary explains every state of a payment', () => {
  assert.deepEqual(
    PAYMENT_STATES.filter((state) => !WORDS.includes(state)),
    [],
  )
})

test('every paging alert has its symptom among the questions', () => {
  const { groups } = parse(readPage('ops/prometheus/alerts.yaml').text) as {
    groups: { rules: { alert: string; labels?: { severity?: string } }[] }[]
  }
  const pages = groups.flatMap(({ rules }) => rules).filter(({ labels }) => labels?.severity === 'page')
  assert.ok(pages.length > 5)
  const questions = readPage('docs/FAQ.md').text
  assert.deepEqual(
    pages.map(({ alert }) => alert).filter((alert) => !questions.includes(`[${alert}]`)),
    [],
  )
})
