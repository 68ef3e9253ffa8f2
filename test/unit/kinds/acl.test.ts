import { expect, test } from 'vitest'
import { aclNeeds } from '../../../src/kinds/credentials/acl.ts'

const path = 'spec.acl'
const everything = { domains: [{ path, domain: '*' }], bound: [{ path, key: '*', value: '*' }] }

test.each([
  ['*', everything],
  ['bind:*.Internal', { domains: [{ path, domain: '*.internal' }], bound: [] }],
  ['bind:1.tcp.example.com:20000', { domains: [{ path, domain: '1.tcp.example.com' }], bound: [] }],
  ['bind:app=shop=1', { domains: [], bound: [{ path, key: 'app', value: 'shop=1' }] }],
  ['bind:*=shop', { domains: [], bound: [{ path, key: '*', value: 'shop' }] }],
])('the rule %s needs what it lets agents bind', (rule, needs) => {
  expect(aclNeeds({ acl: [rule] })).toEqual(needs)
})

test.each([
  'bind:[2001:db8::7]:443',
  'bind:2001:db8::7',
  'bind:*',
  'bind:=shop',
  'bind:other.com, .shop.example.com',
  'bind:a*b.shop.example.com',
  'bind:under_score.shop.example.com',
  'bind:shop.example.com:http',
])('the rule %s, whose meaning the contract leaves open, needs everything', (rule) => {
  expect(aclNeeds({ acl: [rule] })).toEqual(everything)
})
