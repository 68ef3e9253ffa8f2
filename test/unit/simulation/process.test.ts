import { expect, test } from 'vitest'
import { SimulatedProcess } from '../../faults/simulation/process.ts'
import { VirtualTime } from '../../faults/simulation/virtual-time.ts'

function start() {
  const time = new VirtualTime()
  return { time, process: new SimulatedProcess('operator', time, 1_000), ran: [] as string[] }
}

test('a process that is killed runs nothing any more, timers included, and cannot go on', async () => {
  const { time, process, ran } = start()
  process.setTimer(5, () => ran.push('timer'))
  process.stop()
  process.run(() => ran.push('while stopped'))
  process.kill()
  process.goOn()
  process.run(() => ran.push('after'))
  await time.advance(10)
  expect([ran, process.isDead, process.canSend]).toEqual([[], true, false])
})

test('a process that is stopped runs what came meanwhile in its order once it continues, while time continues', async () => {
  const { time, process, ran } = start()
  process.setTimer(5, () => ran.push(`timer at ${process.monotonic()}`))
  process.stop()
  process.run(() => ran.push('arrival'))
  expect(process.canSend).toBe(false)
  await time.advance(30)
  expect(ran).toEqual([])
  process.goOn()
  await time.advance(0)
  expect([ran, process.canSend]).toEqual([['arrival', 'timer at 30'], true])
})

test('what makes a process stop again while it continues leaves the rest for later', async () => {
  const { time, process, ran } = start()
  process.stop()
  process.run(() => process.stop())
  process.run(() => ran.push('later'))
  process.goOn()
  await time.advance(0)
  expect(ran).toEqual([])
  process.goOn()
  await time.advance(0)
  expect(ran).toEqual(['later'])
})

test('a timer that is cancelled while its process stands still does not fire when it continues', async () => {
  const { time, process, ran } = start()
  const cancel = process.setTimer(5, () => ran.push('timer'))
  process.stop()
  process.run(() => cancel())
  await time.advance(10)
  process.goOn()
  await time.advance(0)
  expect(ran).toEqual([])
})

test('a process that is killed soon takes in what has arrived, and sends nothing', async () => {
  const { time, process, ran } = start()
  process.killSoon()
  process.run(() => ran.push('arrival'))
  expect([ran, process.canSend, process.isDead]).toEqual([['arrival'], false, false])
  await time.advance(0)
  expect(process.isDead).toBe(true)
})

test('the wall clock steps, the monotonic one does not', async () => {
  const { time, process } = start()
  await time.advance(10)
  process.stepWall(-3_600_000)
  expect([process.now(), process.monotonic()]).toEqual([1_010 - 3_600_000, 10])
})
