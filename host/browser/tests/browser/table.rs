//! Which test is the one of which verb. A function that callers can reach and that has no line here fails the test, and so
//! does a line whose test is not there or never calls the function.

use std::collections::BTreeSet;
use std::path::Path;

/// Function, module of the test, its name.
const TESTS: &[(&str, &str, &str)] = &[
    ("attribute", "verbs", "reading_gives_attributes_values_counts_and_html"),
    ("back", "verbs", "history_goes_back_and_forward_and_reload_asks_again"),
    ("back_until", "navigation", "who_waits_for_no_load_event_is_not_kept_up_by_an_image_that_never_comes"),
    ("bounding_box", "verbs", "a_box_says_where_an_element_lies_as_the_page_is_scrolled"),
    ("check", "verbs", "boxes_are_checked_and_unchecked_with_clicks"),
    ("clear_cookies", "emulation", "cookies_and_storage_go_out_and_in"),
    ("click", "acting", "a_click_is_one_trusted_click"),
    ("click_with", "verbs", "clicks_of_every_kind_are_real_ones"),
    ("close", "life", "a_closed_page_is_lost_and_its_number_free"),
    ("compose", "verbs", "composed_text_comes_with_composition_events"),
    ("connect", "fence", "the_host_itself_connects_by_the_same_rules"),
    ("console", "verbs", "console_errors_and_requests_are_kept"),
    ("context", "life", "each_principal_has_a_browser_of_its_own"),
    ("contexts", "life", "contexts_that_come_and_go_leave_nothing_behind"),
    ("cookies", "emulation", "cookies_and_storage_go_out_and_in"),
    ("count", "verbs", "reading_gives_attributes_values_counts_and_html"),
    ("deny", "fence", "the_hosts_own_listeners_are_out_of_reach_even_if_granted"),
    ("dialogs", "verbs", "dialogs_are_answered_by_rule"),
    ("document", "verbs", "a_page_says_which_document_it_shows"),
    ("double_click", "verbs", "clicks_of_every_kind_are_real_ones"),
    ("download", "verbs", "downloads_go_into_the_folder"),
    ("downloads", "verbs", "downloads_go_into_the_folder"),
    ("downloads_into", "verbs", "downloads_go_into_the_folder"),
    ("drag", "verbs", "dragging_works_for_html_and_for_mouse_events"),
    ("errors", "verbs", "console_errors_and_requests_are_kept"),
    ("evaluate", "verbs", "scripts_of_the_caller_run_in_the_page"),
    ("evaluate_on", "verbs", "scripts_of_the_caller_run_in_the_page"),
    ("fill", "acting", "fields_of_every_kind_are_filled_in"),
    ("fill_secret", "secrets", "a_document_with_a_secret_is_not_read_until_it_goes"),
    ("focus", "verbs", "keys_of_other_layouts_are_keys"),
    ("forward", "verbs", "history_goes_back_and_forward_and_reload_asks_again"),
    ("forward_until", "navigation", "who_waits_for_no_load_event_is_not_kept_up_by_an_image_that_never_comes"),
    ("goto", "navigation", "goto_answers_with_address_and_status"),
    ("goto_until", "navigation", "who_waits_for_no_load_event_is_not_kept_up_by_an_image_that_never_comes"),
    ("has_spare", "life", "a_page_that_is_kept_ready_is_as_new_and_counts_for_nobody"),
    ("hover", "verbs", "hovering_moves_the_mouse"),
    ("html", "verbs", "reading_gives_attributes_values_counts_and_html"),
    ("is_tainted", "secrets", "a_document_with_a_secret_is_not_read_until_it_goes"),
    ("key_down", "emulation", "a_modifier_that_is_down_counts_until_it_goes_up"),
    ("key_up", "emulation", "a_modifier_that_is_down_counts_until_it_goes_up"),
    ("keys", "life", "each_principal_has_a_browser_of_its_own"),
    ("last_url", "verbs", "a_page_says_which_document_it_shows"),
    ("let_go", "life", "a_page_that_is_let_go_makes_room_at_once"),
    ("locate", "life", "a_remote_browser_is_used_and_left_running"),
    ("new", "life", "each_principal_has_a_browser_of_its_own"),
    ("of", "life", "each_principal_has_a_browser_of_its_own"),
    ("all", "life", "each_principal_has_a_browser_of_its_own"),
    ("open", "life", "a_page_that_is_kept_ready_is_as_new_and_counts_for_nobody"),
    ("pages", "verbs", "the_pages_of_a_context_are_listed_with_their_popups"),
    ("pdf", "verbs", "a_page_is_printed_to_pdf"),
    ("pid", "life", "each_principal_has_a_browser_of_its_own"),
    ("popup", "verbs", "popups_are_pages_once_they_are_taken"),
    ("press", "acting", "keys_edit_move_and_submit"),
    ("reload", "verbs", "history_goes_back_and_forward_and_reload_asks_again"),
    ("reload_until", "navigation", "who_waits_for_no_load_event_is_not_kept_up_by_an_image_that_never_comes"),
    ("requests", "verbs", "console_errors_and_requests_are_kept"),
    ("screenshot", "reading", "screenshots_have_the_size_they_say"),
    ("scroll", "verbs", "scrolling_turns_the_wheel"),
    ("scroll_into_view", "verbs", "scrolling_turns_the_wheel"),
    ("select", "verbs", "options_are_selected_by_value_or_label"),
    ("select_by", "verbs", "options_are_selected_by_value_or_label"),
    ("set_cookies", "emulation", "cookies_and_storage_go_out_and_in"),
    ("set_dialogs", "verbs", "dialogs_are_answered_by_rule"),
    ("set_offline", "emulation", "a_page_looks_as_its_options_ask"),
    ("set_viewport", "emulation", "a_page_takes_another_size"),
    ("set_storage_state", "emulation", "cookies_and_storage_go_out_and_in"),
    ("shutdown", "life", "nothing_is_left_after_a_shutdown"),
    ("snapshot", "snapshots", "a_snapshot_shows_roles_names_states_and_refs"),
    ("storage_state", "emulation", "cookies_and_storage_go_out_and_in"),
    ("tap", "emulation", "a_tap_is_a_touch"),
    ("text", "acting", "fields_of_every_kind_are_filled_in"),
    ("title", "verbs", "a_page_says_which_document_it_shows"),
    ("type_text", "verbs", "typing_is_key_by_key_in_any_layout"),
    ("uncheck", "verbs", "boxes_are_checked_and_unchecked_with_clicks"),
    ("upload", "verbs", "files_are_given_to_inputs_labels_and_choosers"),
    ("url", "verbs", "a_page_says_which_document_it_shows"),
    ("value", "verbs", "reading_gives_attributes_values_counts_and_html"),
    ("version", "life", "a_browser_is_launched_by_the_first_page_and_only_once"),
    ("wait_for", "reading", "waits_end_when_the_state_is_reached"),
    ("wait_for_function", "verbs", "scripts_of_the_caller_run_in_the_page"),
    ("wait_for_load", "verbs", "waits_for_text_address_and_load_state"),
    ("wait_for_text", "verbs", "waits_for_text_address_and_load_state"),
    ("wait_for_url", "verbs", "waits_for_text_address_and_load_state"),
];

/// The files that say what a caller can do. Their free functions and settings are not meant.
const FILES: [&str; 6] = ["browser.rs", "browsers.rs", "context.rs", "pages.rs", "storage.rs", "page"];

fn functions(file: &Path, found: &mut BTreeSet<String>) {
    if file.is_dir() {
        std::fs::read_dir(file).unwrap().flatten().for_each(|entry| functions(&entry.path(), found));
        return;
    }
    let text = std::fs::read_to_string(file).unwrap();
    let methods = text.lines().filter_map(|line| {
        line.strip_prefix("    pub fn ").or_else(|| line.strip_prefix("    pub async fn "))?.split(['(', '<']).next()
    });
    found.extend(methods.map(str::to_owned));
}

#[test]
fn every_function_has_a_test() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    FILES.iter().for_each(|file| functions(&crate_folder.join("src").join(file), &mut found));
    let listed: BTreeSet<String> = TESTS.iter().map(|(function, ..)| (*function).to_owned()).collect();
    let difference: Vec<_> = found.symmetric_difference(&listed).collect();
    assert!(difference.is_empty(), "without a line above, or without a function for it: {difference:?}");
    for (function, module, test) in TESTS {
        let text = std::fs::read_to_string(crate_folder.join(format!("tests/browser/{module}.rs"))).unwrap();
        let body = text.split(&format!("async fn {test}(")).nth(1).and_then(|rest| rest.split("\n}\n").next());
        let body = body.unwrap_or_else(|| panic!("no test {module}::{test}"));
        let called = [".", "::"].iter().any(|before| body.contains(&format!("{before}{function}(")));
        assert!(called, "{module}::{test} does not call {function}");
    }
}

#[test]
fn every_complaint_has_a_test() {
    let tests = include_str!("complaints.rs");
    let names: Vec<&str> = tests.lines().filter_map(|line| line.strip_prefix("async fn ")).collect();
    for number in 1..=26 {
        assert!(names.iter().any(|name| name.contains(&format!("c{number:02}_"))), "none of complaint {number}");
    }
}
