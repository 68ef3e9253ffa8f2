import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hostPort, parseForward, parseForwards, parseHostPort } from '../../../src/agent/forward.ts'

describe('a forward', () => {
  test.each([
    ['app=shop=shop:80', { text: 'app=shop', port: 1 }, { host: 'shop', port: 80 }],
    ['app=shop,version=1=10.0.0.7:8080', { text: 'app=shop,version=1', port: 1 }, { host: '10.0.0.7', port: 8080 }],
    [
      'shop.example.com:443=shop.default.svc:80',
      { text: 'shop.example.com', port: 443 },
      { host: 'shop.default.svc', port: 80 },
    ],
    [
      '1.tcp.us.tunnel.example:12345=[fd00::7]:22',
      { text: '1.tcp.us.tunnel.example', port: 12_345 },
      { host: 'fd00::7', port: 22 },
    ],
  ])('%s binds and leads where it says', (text, bind, target) => {
    expect(parseForward(text)).toEqual({ name: text.slice(0, text.lastIndexOf('=')), bind, target })
  })

  test.each([
    ['shop:80', 'is not BIND=HOST:PORT'],
    ['=shop:80', 'is not BIND=HOST:PORT'],
    ['app=shop=shop', '"shop" is not HOST:PORT'],
    ['app=shop=shop:0', '"shop:0" is not HOST:PORT'],
    ['app=shop=shop:65536', '"shop:65536" is not HOST:PORT'],
    ['app=shop=fd00::7:80', '"fd00::7:80" is not HOST:PORT'],
    ['shop.example.com=shop:80', '"shop.example.com" must be labels'],
  ])('%s is refused', (text, why) => {
    expect(parseForward(text)).toContain(why)
  })

  test('is bound once', () => {
    expect(parseForwards(['app=a=x:1', 'app=a=y:2'])).toBe('"app=a" is bound twice')
    expect(parseForwards(['app=a=x:1', 'app=b=x:1'])).toHaveLength(2)
    expect(parseForwards([])).toBe('there is no forward')
  })
})

test('a target is read as it is written', () => {
  const host = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6())
  fc.assert(
    fc.property(host, fc.integer({ min: 1, max: 65_535 }), (name, port) => {
      expect(parseHostPort(hostPort({ host: name, port }))).toEqual({ host: name, port })
    }),
  )
})

test('any text is a forward or refused with a reason', () => {
  fc.assert(fc.property(fc.string(), (text) => ['string', 'object'].includes(typeof parseForward(text))))
})
