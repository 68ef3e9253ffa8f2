import { expect, test } from 'vitest'
import { SimulatedProcess } from '../../faults/simulation/process.ts'
import { RequestRates } from '../../faults/simulation/request-rates.ts'
import { VirtualTime } from '../../faults/simulation/virtual-time.ts'

const time = new VirtualTime()
const process = new SimulatedProcess('operator', time, 0)

/** What the judge says of a list of that many pages, read that often within a second. */
function violationsOf(pages: number, lists: number): readonly string[] {
  const rates = new RequestRates(time)
  for (let list = 0; list < lists; list += 1) {
    for (let page = 0; page < pages; page += 1) {
      const query = new URLSearchParams(page === 0 ? {} : { before_id: `ak_${page}` })
      rates.sent({ process, server: 'api', method: 'GET', path: '/api_keys', query, headers: {}, body: '' })
    }
  }
  return rates.violations
}

test('the pages of one list are different requests, however many there are', () => {
  expect(violationsOf(200, 1)).toEqual([])
})

test('a list that is read again and again is a repeated request', () => {
  expect(violationsOf(1, 101)).toEqual(['GET /api_keys was sent more than 100 times within a minute'])
  expect(violationsOf(2, 101)).toHaveLength(2)
})
