import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { protocolMutants } from '../../faults/mutants/all.ts'
import { mutated } from '../../faults/mutants/mutant.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

it.each(protocolMutants)('the mutant "$title" has its text in the source still', (mutant) => {
  expect(() => mutated(readFileSync(`${ROOT}${mutant.file}`, 'utf8'), mutant)).not.toThrow()
})
