"""Exact arithmetic: `forms` makes exact forms of trees and compares them; the other modules are what it stands on."""
