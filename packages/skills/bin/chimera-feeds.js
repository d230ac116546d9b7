#!/usr/bin/env node
import '../dist/feeds/main.js'
